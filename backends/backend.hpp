#pragma once

// The contract between src/core and a backend. Adding a backend is a folder that implements `backend_device` and a
// line in backends.cpp's list. Errors are thrown as twill::error, with the same code for the same fault everywhere.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <twill/device.hpp>

#include "operations.hpp"

namespace twill::detail {

enum class copy_direction { host_to_device, device_to_host, device_to_device };

/// One open device. Handles (`void*`) are the backend's own: streams, events. `nullptr` is the default stream.
class backend_device {
 public:
  virtual ~backend_device() = default;

  virtual const device_properties& properties() const noexcept = 0;
  virtual memory_info memory() const = 0;

  /// At least 256-byte aligned; `bytes` is not 0. Throws: out_of_memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;

  virtual void* create_stream() = 0;
  virtual void destroy_stream(void* stream) noexcept = 0;
  /// Throws device_fault for faults of work launched earlier.
  virtual void wait_stream(void* stream) = 0;

  virtual void* create_event() = 0;
  virtual void destroy_event(void* event) noexcept = 0;
  virtual void record_event(void* event, void* stream) = 0;
  virtual void wait_event(void* event) = 0;
  virtual void hold_stream(void* stream, void* event) = 0;
  virtual double seconds_between(void* start, void* end) = 0;

  virtual void copy(void* stream, void* to, const void* from, std::size_t bytes, copy_direction direction) = 0;
  /// Rows between host and device: `in` or `out` of `rows` is host memory, as `direction` says.
  virtual void copy_rows(void* stream, const copy_args& rows, copy_direction direction) = 0;
  virtual void fill(void* stream, void* to, unsigned char value, std::size_t bytes) = 0;

  virtual const operation_table& operations() const noexcept = 0;
  virtual const ladder_table& ladders() const noexcept = 0;
};

/// One backend of this build.
struct backend {
  std::string_view name;  ///< the part of a device's name before ":"
  /// Names of the devices that are here now; empty without a driver. Never throws for a missing driver.
  std::vector<std::string> (*list)();
  /// Opens by what follows "name:" ("" when nothing does). Throws: no_device (unknown device of this backend).
  std::shared_ptr<backend_device> (*open)(std::string_view which);
  /// The calling thread's current device, for borrowed streams; nullptr where there is no such thing.
  int (*current_ordinal)();
};

/// The backends of this build, GPUs first: cuda, hip, cpu, simt.
const std::vector<backend>& backends();

/// The backend's part of `twill::cuda::borrow` and `twill::hip::borrow`: opens device `ordinal` of a backend, -1 being
/// the calling thread's current device.
std::shared_ptr<backend_device> open_ordinal(std::string_view backend_name, int ordinal);

}  // namespace twill::detail
