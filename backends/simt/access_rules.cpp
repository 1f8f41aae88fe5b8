#include "access_rules.hpp"

#include <string>

#include "core/check.hpp"
#include "rules/families.hpp"

namespace twill::simt {

const access_rules& rules_of(std::string_view architecture) {
  static constexpr const access_rules* families[] = {
      &rules::tesla_1_0, &rules::tesla_1_2, &rules::fermi, &rules::kepler, &rules::maxwell,
      &rules::volta,     &rules::gcn,       &rules::cdna3, &rules::cdna4,  &rules::rdna};
  std::string known;
  for (const access_rules* family : families) {
    for (const char* const* name = family->architectures; *name != nullptr; ++name) {
      if (architecture == *name) return *family;
      known.append(known.empty() ? "" : ", ").append(*name);
    }
  }
  detail::fail(errc::unsupported, "no rules for the architecture \"" + std::string(architecture) + "\"",
               "known: " + known, "name the closest of these in the datasheet");
}

}  // namespace twill::simt
