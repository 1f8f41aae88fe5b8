#pragma once

#include <string>

#include <fmt/core.h>

#include <twill/error.hpp>

namespace twill::tool {

/// Bad usage: throws what main prints as one line, "twill: PROBLEM (WHY) SUGGESTION", before it exits with 2.
[[noreturn]] inline void refuse(const std::string& problem, const std::string& why, const std::string& suggestion) {
  throw error(errc::invalid_argument, fmt::format("{} ({}) {}", problem, why, suggestion));
}

/// A rung that cannot do a problem which others can: the bench leaves it out, with this as a note.
[[noreturn]] inline void leave_out(const std::string& problem, const std::string& why) {
  throw error(errc::unsupported, fmt::format("{} ({})", problem, why));
}

}  // namespace twill::tool
