#include "access_rules.hpp"

#include <string>

#include "backends/error.hpp"
#include "backends/simt/rules/families.hpp"

namespace twill::simt {

namespace {

constexpr const access_rules* families[] = {&rules::tesla_1_0, &rules::tesla_1_2, &rules::fermi, &rules::kepler,
                                            &rules::maxwell,   &rules::volta,     &rules::gcn,   &rules::cdna3,
                                            &rules::cdna4,     &rules::rdna};

}  // namespace

const access_rules* find_rules(std::string_view architecture) noexcept {
  for (const access_rules* family : families) {
    for (const char* const* name = family->architectures; *name != nullptr; ++name) {
      if (architecture == *name) return family;
    }
  }
  return nullptr;
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> known;
  for (const access_rules* family : families) {
    for (const char* const* name = family->architectures; *name != nullptr; ++name) known.emplace_back(*name);
  }
  return known;
}

const access_rules& rules_of(std::string_view architecture) {
  if (const access_rules* found = find_rules(architecture)) return *found;
  std::string known;
  for (const std::string& name : known_architectures()) known.append(known.empty() ? "" : ", ").append(name);
  detail::fail(errc::unsupported, "no rules for the architecture \"" + std::string(architecture) + "\"",
               "known: " + known, "name the closest of these in the datasheet");
}

}  // namespace twill::simt
