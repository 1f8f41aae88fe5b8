#include "device.hpp"

#include "core/check.hpp"
#include "operations.hpp"

namespace twill::cpu {

device::device() : host_device(cpu_properties("cpu", "cpu")) {}

const detail::operation_table& device::operations() const noexcept {
  static const detail::operation_table table{&transpose};
  return table;
}

const detail::ladder_table& device::ladders() const noexcept {
  static const detail::ladder_table table{transpose_ladder()};
  return table;
}

host::thread_team& team_of(const detail::work_queue& queue) {
  return static_cast<device*>(queue.device)->team();
}

std::vector<std::string> list() {
  return {"cpu"};
}

std::shared_ptr<detail::backend_device> open(std::string_view which) {
  if (!which.empty()) {
    detail::fail(errc::no_device, "no device \"cpu:" + std::string(which) + "\"", "the CPU is one device",
                 "name it cpu");
  }
  return std::make_shared<device>();
}

}  // namespace twill::cpu
