#pragma once

// What this machine is, as its operating system tells it.

#include <twill/device.hpp>

namespace twill::host {

/// Physical memory: all of it, and what can be had without swapping.
memory_info machine_memory();

/// The processors as a device, but for `name` and `backend`. What the system does not tell is 0 or empty.
device_properties machine_properties();

}  // namespace twill::host
