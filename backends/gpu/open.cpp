// Which devices there are, and opening one.

#include <charconv>
#include <map>
#include <mutex>

#include "backends/error.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {

namespace {

std::string name_of(int ordinal) {
  return std::string(backend_name) + ":" + std::to_string(ordinal);
}

// No driver, one too old, no device: all mean that there is nothing here.
int count_devices(native_error* error) {
  int count = 0;
  *error = device_count(&count);
  ignore(*error);
  return *error == native_success ? count : 0;
}

int ask(native_attribute which, int ordinal) {
  int value = 0;
  check(attribute(&value, which, ordinal), "asking for a device's properties");
  return value;
}

device_properties ask_properties(int ordinal) {
  native_identity identity;
  int shared_bytes = 0;
  check(identify(&identity, ordinal), "asking for a device's properties");
  check(shared_bytes_per_block(&shared_bytes, ordinal), "asking for a device's properties");

  device_properties p;
  p.name = name_of(ordinal);
  p.backend = backend_name;
  p.vendor = vendor_name;
  p.model = identity.model.empty() ? identity.architecture : identity.model;
  p.architecture = identity.architecture;
  p.memory_bytes = identity.memory_bytes;
  p.peak_bytes_per_second = 1e3 * ask(attributes::memory_clock_khz, ordinal) *
                            transfers_per_clock(identity.architecture) * ask(attributes::bus_bits, ordinal) / 8;
  p.cache_bytes = static_cast<std::size_t>(ask(attributes::cache_bytes, ordinal));
  p.multiprocessors = ask(attributes::multiprocessors, ordinal);
  p.warp_size = ask(attributes::warp_size, ordinal);
  p.max_threads_per_block = ask(attributes::max_threads_per_block, ordinal);
  p.shared_bytes_per_block = static_cast<std::size_t>(shared_bytes);
  p.is_gpu = true;
  return p;
}

// Asked for once a process: it takes a driver milliseconds, and every borrowed stream opens its device.
const device_properties& properties_of(int ordinal) {
  static std::mutex mutex;
  static std::map<int, device_properties> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(ordinal);
  return found != known.end() ? found->second : known.emplace(ordinal, ask_properties(ordinal)).first->second;
}

[[noreturn]] void fail_unknown(std::string_view which, int count, native_error error) {
  std::string here;
  for (int i = 0; i < count; ++i) here += (i == 0 ? "here are: " : ", ") + name_of(i);
  if (count == 0) here = "none is here; " + describe(error);
  const std::string name = std::string(backend_name) + (which.empty() ? "" : ":") + std::string(which);
  detail::fail(errc::no_device, "no device \"" + name + "\"", here,
               count == 0 ? "use \"cpu\" or another device of twill::device::list()" : "name one of those");
}

}  // namespace

static std::vector<std::string> list() {
  native_error error;
  const int count = count_devices(&error);
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) names.push_back(name_of(i));
  return names;
}

static std::shared_ptr<detail::backend_device> open(std::string_view which) {
  native_error error;
  const int count = count_devices(&error);
  int ordinal = which.empty() ? 0 : -1;
  const auto parsed = std::from_chars(which.data(), which.data() + which.size(), ordinal);
  const bool is_number = which.empty() || (parsed.ec == std::errc() && parsed.ptr == which.data() + which.size());
  if (!is_number || ordinal < 0 || ordinal >= count) fail_unknown(which, count, error);
  return std::make_shared<gpu_device>(ordinal, properties_of(ordinal));
}

static int current_ordinal() {
  int ordinal = 0;
  check(current_device(&ordinal), "asking for the current device");
  return ordinal;
}

extern detail::backend this_backend;
detail::backend this_backend{backend_name, &list, &open, &current_ordinal, nullptr};

}  // namespace twill::TWILL_BACKEND
