#pragma once

#include <string>

#include <twill/ladder/rung.hpp>
#include <twill/profile.hpp>

namespace twill::tool {

/// What one kernel of a ladder did on one simulated device.
struct profile_result {
  std::string operation, device, model, kernel, type, size;
  block_shape block;
  std::string compared_with;  ///< what predictions for the device were compared with
  profile seen;
};

}  // namespace twill::tool
