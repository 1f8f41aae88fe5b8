#pragma once

#include <string>

#include <twill/ladder/rung.hpp>
#include <twill/profile.hpp>

namespace twill::tool {

/// What one kernel of a ladder did on one simulated device.
struct profile_result {
  std::string operation, device, kernel, type, size;
  block_shape block;
  profile seen;
};

}  // namespace twill::tool
