#pragma once

#include <twill/export.hpp>

#define TWILL_VERSION_MAJOR 0
#define TWILL_VERSION_MINOR 1
#define TWILL_VERSION_PATCH 0

namespace twill {

/// The version of the library that is linked, "0.1.0": compare with the macros to see a mismatch of headers.
TWILL_API const char* version() noexcept;

}  // namespace twill
