#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <twill/export.hpp>

namespace twill {

namespace detail {
class backend_device;
/// Throws invalid_argument: `what` was default-constructed or moved from.
[[noreturn]] TWILL_API void fail_empty(const char* what);
}  // namespace detail

/// What a device is. A figure that the device does not report is 0.
struct device_properties {
  std::string name;                  ///< how Twill calls it: "cuda:0", "simt:k20", "cpu"
  std::string backend;               ///< "cuda", "hip", "simt" or "cpu"
  std::string vendor;                ///< "NVIDIA", "AMD", or the CPU's vendor
  std::string model;                 ///< the vendor's name of the product
  std::string architecture;          ///< "sm_90", "gfx90a", "x86_64"
  std::size_t memory_bytes = 0;      ///< device memory in all
  double peak_bytes_per_second = 0;  ///< bus width times memory clock, as the driver or datasheet gives it
  std::size_t cache_bytes = 0;       ///< last-level cache
  int multiprocessors = 0;           ///< SMs or CUs; cores of a CPU
  int warp_size = 1;                 ///< lanes the hardware runs together (Twill's logical warp is always 32)
  int max_threads_per_block = 1;
  std::size_t shared_bytes_per_block = 0;  ///< shared memory (LDS) that one block may use
  bool is_gpu = false;                     ///< real GPU hardware: its times are GPU times
};

/// Free and total memory of a device, in bytes.
struct memory_info {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

/// An open device: a cheap handle, copied freely. Resources made on it keep it open. A device that is opened twice is
/// one device. May be used from all threads at once.
/// An empty object (default-constructed or moved from) may be destroyed, assigned to and compared; everything else
/// throws invalid_argument.
class TWILL_API device {
 public:
  device() noexcept = default;

  /// Opens a device by name: "cuda:0", "hip:1", "simt", "simt:gtx280", "cpu".
  /// Throws: no_device, with the list of devices there are.
  static device open(std::string_view name);

  /// The names of the devices that `open` would find here: real GPUs first, then "cpu", then "simt" and its models,
  /// each as far as the program has its backend. Empty without any.
  static std::vector<std::string> list();

  /// The device that a tool should use when its user names none: the one that the build was told
  /// (TWILL_DEFAULT_DEVICE), else the first GPU, else "cpu".
  /// Throws: no_device where the build has no cpu and there is no GPU.
  static std::string default_name();

  /// Throws: invalid_argument when the object is empty.
  const device_properties& properties() const;

  /// Throws: device_fault when the device does not answer.
  memory_info memory() const;

  bool is_open() const noexcept { return impl_ != nullptr; }

  friend bool operator==(const device& a, const device& b) noexcept { return a.impl_ == b.impl_; }
  friend bool operator!=(const device& a, const device& b) noexcept { return a.impl_ != b.impl_; }

  /// For Twill's own resources and operations: the backend's side of this device.
  /// Throws: invalid_argument when the object is empty.
  const std::shared_ptr<detail::backend_device>& impl() const {
    if (impl_ == nullptr) detail::fail_empty("the device");
    return impl_;
  }
  explicit device(std::shared_ptr<detail::backend_device> impl) noexcept : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<detail::backend_device> impl_;
};

}  // namespace twill
