#pragma once

// The environment variables of the devices on the CPU (docs/environment.md).

namespace twill::host {

/// TWILL_THREADS; where it is not set, the CPUs that this process may use.
/// Throws: invalid_argument when it is not an integer from 1 to 1024.
int default_thread_count();

/// A variable that is on or off: 1, on, yes, or 0, off, no. Not set, it is off.
/// Throws: invalid_argument when it is set to anything else.
bool environment_switch(const char* name);

}  // namespace twill::host
