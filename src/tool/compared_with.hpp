#pragma once

#include <string>

#include <twill/simt.hpp>

namespace twill::tool {

/// One sentence beside predicted numbers: what predictions for a simulated device were compared with.
inline std::string compared_with_text(const device& on) {
  const std::string compared = predictions_compared_with(on);
  if (compared.empty()) return "Predictions for " + on.properties().name + " were never compared with a measurement.";
  return "Predictions for " + on.properties().name + " were compared with " + compared + ".";
}

}  // namespace twill::tool
