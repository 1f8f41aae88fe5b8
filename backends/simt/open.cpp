// Which simulated devices there are, and opening one.

#include <cstdlib>

#include <twill/simt.hpp>

#include "backends/error.hpp"
#include "backends/host/machine.hpp"
#include "models.hpp"
#include "simt_device.hpp"

namespace twill::simt {

namespace {

constexpr std::size_t generic_shared_bytes = 64u << 10;

// No GPU in particular: what common ones allow, with this machine's memory.
device_properties generic_properties(int threads) {
  device_properties p;
  p.name = p.backend = "simt";
  p.vendor = "simulated";
  p.model = "generic GPU";
  p.architecture = "simt";
  p.memory_bytes = host::machine_memory().total_bytes;
  p.multiprocessors = threads;
  p.warp_size = 32;
  p.max_threads_per_block = block_runner::max_threads;
  p.shared_bytes_per_block = generic_shared_bytes;
  return p;
}

device_properties properties_of(const datasheet& sheet, std::string_view which) {
  device_properties p;
  p.name = "simt:" + std::string(which);
  p.backend = "simt";
  p.vendor = sheet.vendor;
  p.model = sheet.model;
  p.architecture = sheet.architecture;
  p.memory_bytes = sheet.memory_bytes;
  p.peak_bytes_per_second = static_cast<double>(sheet.peak_bytes_per_second);
  p.cache_bytes = sheet.last_level_cache_bytes > 0 ? sheet.last_level_cache_bytes : sheet.l2_bytes;
  p.multiprocessors = static_cast<int>(sheet.multiprocessors);
  p.warp_size = static_cast<int>(sheet.warp_size);
  p.max_threads_per_block = static_cast<int>(sheet.max_threads_per_block);
  p.shared_bytes_per_block = sheet.shared_bytes_per_block;
  return p;
}

grid_limits limits_of(const datasheet& sheet) {
  grid_limits most;
  if (sheet.max_grid_x > 0) most.x = sheet.max_grid_x;
  if (sheet.max_grid_yz > 0) most.yz = sheet.max_grid_yz;
  return most;
}

schedule starting_order() {
  const char* const asked = std::getenv("TWILL_SIMT_ORDER");
  return asked == nullptr ? schedule{} : parse_schedule(asked);
}

}  // namespace

static std::vector<std::string> list() {
  std::vector<std::string> names{"simt"};
  for (std::size_t i = 0; i < embedded_model_count; ++i) {
    names.push_back(std::string("simt:") + embedded_models[i].name);
  }
  return names;
}

static std::shared_ptr<detail::backend_device> open(std::string_view which) {
  const int threads = host::default_thread_count();
  auto properties = generic_properties(threads);
  grid_limits most;
  if (!which.empty()) {
    const datasheet sheet = find_datasheet(which);
    properties = properties_of(sheet, which);
    most = limits_of(sheet);
  }
  auto opened = std::make_shared<simt_device>(std::move(properties), most, starting_order(), threads);
  if (host::environment_switch("TWILL_SIMT_CHECK")) opened->check(true);
  return opened;
}

extern detail::backend this_backend;
detail::backend this_backend{"simt", &list, &open, nullptr, nullptr};

}  // namespace twill::simt

namespace twill {

namespace {

simt::simt_device& simulated(const device& on, const char* has_no) {
  auto* const found = dynamic_cast<simt::simt_device*>(on.impl().get());
  if (found == nullptr) {
    detail::fail(errc::unsupported, on.properties().name + " has no " + has_no, "only simulated devices have one",
                 "open \"simt\"");
  }
  return *found;
}

}  // namespace

void set_interleaving(const device& on, interleaving order, std::uint64_t seed) {
  simulated(on, "order of threads to choose").set_order({order, seed});
}

void set_checks(const device& on, bool wanted) {
  simulated(on, "check of kernels").check(wanted);
}

void set_step_limit(const device& on, std::uint64_t steps) {
  simulated(on, "limit of steps").set_step_limit(steps);
}

std::size_t unwritten_bytes(const device& on, const void* memory, std::size_t bytes) {
  return simulated(on, "record of what is written").unwritten_bytes(memory, bytes);
}

}  // namespace twill
