#pragma once

// The contract between the library and a backend: devices, memory, streams, events. A backend knows nothing of
// operations. Adding one is a folder that implements `backend_device` and an entry in src/operations. Errors are thrown
// as twill::error, with the same code for the same fault everywhere.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <twill/device.hpp>

#include "error.hpp"
#include "launch_tags.hpp"

namespace twill::detail {

enum class copy_direction { host_to_device, device_to_host, device_to_device };

class backend_device;
struct operation_table;  // of src/operations: opaque here

/// Where work goes: a stream of an open device, as its backend knows it.
struct work_queue {
  backend_device* device = nullptr;
  void* native = nullptr;  ///< the backend's stream handle; nullptr is the default stream
};

/// At least one row of at least one byte; pitches are at least row_bytes, the input's may be negative.
struct pitched_rows {
  const void* in;
  void* out;
  std::int64_t rows, row_bytes, in_pitch, out_pitch;
};

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
  virtual void copy_rows(void* stream, const pitched_rows& rows, copy_direction direction) = 0;
  virtual void fill(void* stream, void* to, unsigned char value, std::size_t bytes) = 0;

  /// `bytes` bytes of device memory as the host can read them now, for checks of arguments that lie there; nullptr
  /// where it cannot. Throws: invalid_argument for memory that the device knows to be out of bounds.
  virtual const void* host_view(const void* memory, std::size_t bytes) const {
    (void)memory, (void)bytes;
    return nullptr;
  }

  /// What runs on this device: set by whoever opens it (open_device).
  const operation_table* operations = nullptr;

  /// For kernels that tag what they write.
  launch_tags tags;
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
  /// The operations compiled for it: filled in by src/operations.
  const operation_table* operations = nullptr;
};

/// The backends of this program, GPUs first: cuda, hip, cpu, simt.
const std::vector<backend>& backends();

/// Opens a device of a backend, ready for its operations: the one that is open already under this name, if any.
std::shared_ptr<backend_device> open_device(const backend& from, std::string_view which);

/// Adds the backend of a library of its own, while the program starts (static initialisation): before any device opens.
/// All that libtwill exports beside its API.
TWILL_API void add_backend(const backend& one, const operation_table& operations);

/// The backend's part of `twill::cuda::borrow` and `twill::hip::borrow`: opens device `ordinal` of a backend, -1 being
/// the calling thread's current device.
std::shared_ptr<backend_device> open_ordinal(std::string_view backend_name, int ordinal);

}  // namespace twill::detail
