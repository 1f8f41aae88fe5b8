#include <twill/device.hpp>
#include <twill/version.hpp>

#include <map>
#include <mutex>

#include "backends/backend.hpp"
#include "backends/error.hpp"
#include "core/call.hpp"

namespace twill {
namespace {

constexpr std::string_view configured_default = TWILL_DEFAULT_DEVICE;

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string backend_names() {
  std::vector<std::string> names;
  for (const auto& one : detail::backends()) names.emplace_back(one.name);
  return join(names);
}

// "here are: cuda:0, cpu", or why there is none.
std::string devices_here() {
  const auto names = device::list();
  return names.empty() ? "here is none for the backends of this build: " + backend_names() : "here are: " + join(names);
}

[[noreturn]] void fail_unknown(std::string_view name, std::string_view backend) {
  const std::string problem = "no device \"" + std::string(name) + "\"", left_out(backend);
  if (left_out != "cuda" && left_out != "hip" && left_out != "cpu" && left_out != "simt") {
    detail::fail(errc::no_device, problem, devices_here(), "name one of those");
  }
  const std::string linked = left_out == "simt" ? " and link Twill::twill_simt" : "";
  detail::fail(errc::no_device, problem,
               "this program has no " + left_out + " backend, but " + backend_names() + "; " + devices_here(),
               "build with " + left_out + " in TWILL_BACKENDS" + linked + ", or name one of those");
}

std::shared_ptr<detail::backend_device> open_impl(std::string_view name) {
  const auto colon = name.find(':');
  const auto which = colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  const bool nothing_named = colon != std::string_view::npos && which.empty();
  for (const auto& candidate : detail::backends()) {
    if (!nothing_named && candidate.name == name.substr(0, colon)) return detail::open_device(candidate, which);
  }
  fail_unknown(name, nothing_named ? std::string_view() : name.substr(0, colon));
}

// Devices that are open, by the names they were asked for and by their own: whoever opens one twice gets it again.
struct open_devices {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<detail::backend_device>> by_name;
};

open_devices& devices_now() {
  static auto& all = *new open_devices;  // never destroyed: static objects may open devices in their destructors
  return all;
}

}  // namespace

namespace detail {

void fail_empty(const char* what) {
  fail(errc::invalid_argument, std::string(what) + " is empty", "it was default-constructed or moved from",
       "assign one to it");
}

std::shared_ptr<backend_device> open_device(const backend& from, std::string_view which) {
  const std::string asked = std::string(from.name).append(":").append(which);
  auto& all = devices_now();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (auto known = all.by_name[asked].lock()) return known;
  auto opened = from.open(which);
  auto& own = all.by_name[opened->properties().name];
  if (auto known = own.lock()) {
    opened = std::move(known);
  } else {
    opened->operations = from.operations;
    own = opened;
  }
  all.by_name[asked] = opened;
  return opened;
}

}  // namespace detail

device device::open(std::string_view name) {
  return detail::in_call("device::open", [&] { return device(open_impl(name)); });
}

std::vector<std::string> device::list() {
  std::vector<std::string> names;
  for (const auto& one : detail::backends()) {
    for (auto& name : one.list()) names.push_back(std::move(name));
  }
  return names;
}

std::string device::default_name() {
  if (!configured_default.empty()) return std::string(configured_default);
  const auto names = list();  // GPUs come first
  if (names.empty())
    detail::fail(errc::no_device, "no default device", devices_here(), "build with cpu in TWILL_BACKENDS");
  return names.front();
}

const device_properties& device::properties() const {
  return detail::in_call("device::properties", [&]() -> const device_properties& { return impl()->properties(); });
}

memory_info device::memory() const {
  return detail::in_call("device::memory", [&] { return impl()->memory(); });
}

const char* version() noexcept {
#define TWILL_TEXT_OF(x) #x
#define TWILL_TEXT(x) TWILL_TEXT_OF(x)
  return TWILL_TEXT(TWILL_VERSION_MAJOR) "." TWILL_TEXT(TWILL_VERSION_MINOR) "." TWILL_TEXT(TWILL_VERSION_PATCH);
#undef TWILL_TEXT
#undef TWILL_TEXT_OF
}

}  // namespace twill
