#include "device.hpp"

#include <algorithm>
#include <cstring>

#include "backends/error.hpp"
#include "vector.hpp"

namespace twill::cpu {

device::device() : host_device(cpu_properties("cpu", "cpu")) {}

// All threads share a large copy, which is streamed: it is the roof that operations are measured against.
void device::copy(void*, void* to, const void* from, std::size_t bytes, detail::copy_direction) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  if (bytes < 2 * piece) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return;
  }
  const auto* vector = bytes >= least_streamed ? vectors() : nullptr;
  team().run((bytes + piece - 1) / piece, [&](std::size_t i) {
    auto* part = static_cast<unsigned char*>(to) + i * piece;
    const auto* source = static_cast<const unsigned char*>(from) + i * piece;
    const std::size_t size = std::min(piece, bytes - i * piece);
    if (vector == nullptr) {
      std::memcpy(part, source, size);
      return;
    }
    vector->stream(part, source, size);
    vector->fence();
  });
}

static std::vector<std::string> list() {
  return {"cpu"};
}

static std::shared_ptr<detail::backend_device> open(std::string_view which) {
  if (!which.empty()) {
    detail::fail(errc::no_device, "no device \"cpu:" + std::string(which) + "\"", "the CPU is one device",
                 "name it cpu");
  }
  return std::make_shared<device>();
}

extern detail::backend this_backend;
detail::backend this_backend{"cpu", &list, &open, nullptr, nullptr};

}  // namespace twill::cpu
