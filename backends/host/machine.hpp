#pragma once

// What this machine is, as its operating system reports it.

#include <twill/device.hpp>

namespace twill::host {

/// CPUs that this process may use: those of the calling thread's affinity mask, or fewer where a control group's quota
/// allows less. At least 1.
int usable_cpus();

/// Memory that this process may have, as the machine, its control groups and its limit of address space (ulimit -v) let
/// it: all of it, and what can be had without swapping.
memory_info machine_memory();

/// The processors as a device, but for `name` and `backend`. What the system does not report is 0 or empty.
device_properties machine_properties();

}  // namespace twill::host
