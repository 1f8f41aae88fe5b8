#include "tuning.hpp"

#include <algorithm>
#include <sstream>

#include "backends/error.hpp"
#include "core/operations.hpp"
#include "team/operations.hpp"
#include "team/selection.hpp"

namespace twill::detail {
namespace {

constexpr const char* format = "global_transpose tuning 1:";

template <class Number>
std::string joined(const Number* numbers, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : "x").append(std::to_string(numbers[i]));
  return text;
}

std::string text_of(const team_side& side, int rank) {
  return "parts " + joined(side.parts, rank) + " order " + joined(side.order, rank) + " lds " + joined(side.lds, rank);
}

// "2 cuda, 2 cuda": the ranks of each node in turn.
std::string text_of_members(const team_job& job) {
  std::string text;
  const auto& members = job.team->members();
  for (std::size_t rank = 0; rank < members.size();) {
    const auto kind = [&](std::size_t r) { return members[r].device.substr(0, members[r].device.find(':')); };
    std::size_t end = rank;
    while (end < members.size() && job.nodes[end] == job.nodes[rank] && kind(end) == kind(rank)) ++end;
    text.append(rank == 0 ? "" : ", ").append(std::to_string(end - rank) + " " + kind(rank));
    rank = end;
  }
  return text;
}

std::string key_of(const team_job& job) {
  const team_layout& layout = job.layout;
  return std::to_string(layout.element_bytes) + " bytes, " + joined(layout.extents, layout.rank) + ", in " +
         text_of(layout.in, layout.rank) + ", out " + text_of(layout.out, layout.rank) + ", on " + text_of_members(job);
}

// Numbers of blocks for each peer that make about 1/2, 1 and 3 for each multiprocessor of rank 0; 0 makes 2.
std::vector<int> block_counts(const team_job& job) {
  if (job.options.blocks_per_peer > 0) return {job.options.blocks_per_peer};
  std::vector<int> mine;
  for (int i = 0; i < job.team->local_count(); ++i) {
    const device& on = job.team->local_device(i);
    const bool counts = on.impl()->operations->team.exchange != nullptr;
    mine.push_back(counts ? std::max(1, on.properties().multiprocessors) : 0);
  }
  const int multiprocessors = job.team->gather(mine).front();
  std::vector<int> counts{0};
  for (const int half : {1, 2, 6}) {
    const int one = (multiprocessors * half / 2 + job.layout.size - 1) / job.layout.size;
    if (one > 0 && one != counts.back()) counts.push_back(one);
  }
  return counts;
}

}  // namespace

team_job with_choice(team_job job, const tuned_choice& one) {
  job.options.via = one.via;
  job.options.blocks_per_peer = one.blocks_per_peer;
  job.options.parts = one.parts;
  return job;
}

std::string text_of(const team_job& job, const tuned_choice& one) {
  return std::string(format) + " " + name(one.via) + " blocks " + std::to_string(one.blocks_per_peer) + " parts " +
         std::to_string(one.parts) + "; " + key_of(job);
}

tuned_choice parse_tuning(const team_job& job, const std::string& line) {
  const std::size_t end = line.find("; "), begin = std::string(format).size();
  tuned_choice one{transport::automatic, -1, -1};
  if (end != std::string::npos && line.compare(0, begin, format) == 0) {
    std::istringstream fields(line.substr(begin, end - begin));
    std::string via, blocks, parts;
    fields >> via >> blocks >> one.blocks_per_peer >> parts >> one.parts;
    for (const auto known : {transport::direct, transport::copy, transport::nccl, transport::mixed, transport::mpi}) {
      if (via == name(known) && blocks == "blocks" && parts == "parts" && !fields.fail()) one.via = known;
    }
  }
  if (one.via == transport::automatic || one.blocks_per_peer < 0 || one.parts < 0) {
    fail(errc::invalid_argument, "the saved tuning was not returned by tune()", "its prefix is not recognised",
         "tune again");
  }
  if (line.substr(end + 2) != key_of(job)) {
    fail(errc::invalid_argument, "the saved tuning was measured for a different plan",
         line.substr(end + 2, 120) + "; this one: " + key_of(job).substr(0, 120), "tune this one");
  }
  return one;
}

std::vector<tuned_choice> candidates_of(const team_job& job) {
  const transport asked = job.options.via;
  const int last_node = *std::max_element(job.nodes.begin(), job.nodes.end());
  std::vector<tuned_choice> all;
  std::string reasons;
  for (const auto via : {transport::mpi, transport::nccl, transport::mixed, transport::copy, transport::direct}) {
    if (asked != transport::automatic && asked != via) continue;
    if (asked != via && via == transport::mixed && last_node == 0) continue;
    const std::string why = no_way(job, via);
    if (!why.empty()) {
      reasons.append(reasons.empty() ? "" : "; ").append(why);
      continue;
    }
    if (via == transport::direct) {
      for (const int blocks : block_counts(job)) all.push_back({via, blocks, job.options.parts});
    } else if (via == transport::copy && job.options.parts == 0) {
      for (const int parts : {1, 2, 4}) all.push_back({via, job.options.blocks_per_peer, parts});
    } else {
      all.push_back({via, job.options.blocks_per_peer, job.options.parts});
    }
  }
  if (all.empty()) fail(errc::unsupported, "no transport reaches all ranks", reasons, "make the plan as before");
  return all;
}

}  // namespace twill::detail
