#pragma once

// The one place where error messages are put together: PROBLEM (WHY) SUGGESTION, in one line.

#include <string>
#include <string_view>

#include <twill/error.hpp>

namespace twill::detail {

/// Throws a twill::error with the message "PROBLEM (WHY) SUGGESTION".
[[noreturn]] void fail(errc code, std::string_view problem, std::string_view why, std::string_view suggestion);

/// As `fail`, for a fault that a driver reported: appends the place where it was found. `file` loses its folders.
[[noreturn]] void fail_at(errc code, std::string_view problem, std::string_view why, std::string_view suggestion,
                          const char* file, int line);

/// `fail(invalid_argument, ...)` unless `holds`. Pass literals: a computed message would be made on every call.
inline void require(bool holds, std::string_view problem, std::string_view why, std::string_view suggestion) {
  if (!holds) fail(errc::invalid_argument, problem, why, suggestion);
}

}  // namespace twill::detail
