#pragma once

#include <string>

namespace twill::simt {

/// The qualified name of the function at `address`, with template arguments and without parameters; the address
/// itself when the program was stripped of names.
std::string kernel_name(const void* address);

}  // namespace twill::simt
