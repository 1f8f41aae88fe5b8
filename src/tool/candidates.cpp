#include "candidates.hpp"

#include <set>

namespace twill::tool {
namespace {

constexpr std::string_view candidate_source = "a candidate of the planner";

std::string_view kept(const std::string& name) {
  static std::set<std::string> names;
  return *names.insert(name).first;
}

}  // namespace

std::vector<rung> candidate_rungs(const ladder_problem& problem, const device& on) {
  std::vector<rung> rungs;
  for (const candidate& each : problem.candidates(on)) {
    rungs.push_back({"", kept(each.kernel), "", candidate_source, rung_promise::result, {}, true});
  }
  return rungs;
}

bool is_candidate(const rung& which) {
  return which.source == candidate_source;
}

std::string plan_text(const candidate& which) {
  return which.plan.empty() ? which.kernel : which.kernel + ": " + which.plan;
}

std::optional<candidate> plan_of(const ladder_problem& problem, const device& on, const rung& which) {
  if (which.name != "tuned" && !is_candidate(which)) return std::nullopt;
  for (const candidate& each : problem.candidates(on)) {
    if (which.name == "tuned" || which.name == each.kernel) return each;
  }
  return std::nullopt;
}

}  // namespace twill::tool
