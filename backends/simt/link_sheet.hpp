#pragma once

// The part of a datasheet that says how a device reaches others of its host: "link". presets/devices/README.md says
// what its figures mean.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "timing_sheet.hpp"

namespace twill::simt {

/// A figure that the sheet leaves out is 0. Rates are of one direction.
struct link_sheet {
  std::string name;  ///< "NVLink 4"; empty: the sheet has no link
  double bytes_per_second = 0;
  double peer_bytes_per_second = 0;
  double copy_bytes_per_second = 0;
};

/// All numbers of "link".
std::vector<sheet_number> numbers_of_link();

/// Reads "link" of a datasheet. Returns "", or what is wrong with it: the field, and what was expected.
std::string read_link(const nlohmann::json& link, link_sheet& sheet);

}  // namespace twill::simt
