#pragma once

// Datasheets whose figures are each possible, but not together.

#include <string>

#include "models.hpp"

namespace twill::simt {

/// What of a datasheet cannot be true beside the rest of it: the field, and what it contradicts. "" when nothing.
std::string contradiction_in(const datasheet& sheet);

}  // namespace twill::simt
