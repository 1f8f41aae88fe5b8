#include "prediction.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "channels.hpp"
#include "kernel_code.hpp"
#include "launch_timer.hpp"

namespace twill::simt::timing {
namespace {

constexpr std::uint64_t rounds_recorded = 4;
constexpr std::uint64_t least_recorded = 4096;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

// The recorded blocks, and the rest at the rate of those that ran while all multiprocessors were full.
double clocks_of(const launch_timer& timer, std::uint64_t blocks) {
  const auto& ends = timer.ends();
  const double all = std::max(ends.back(), timer.drained());
  if (blocks <= ends.size() || ends.size() < 8) return all * static_cast<double>(blocks) / ends.size();
  const std::size_t from = ends.size() / 4, to = ends.size() * 3 / 4;
  const double clocks_per_block = (ends[to] - ends[from]) / static_cast<double>(to - from);
  return all + static_cast<double>(blocks - ends.size()) * clocks_per_block;
}

// What the busiest channel gets of the packets of `round` blocks that run together, over what each gets on average; the
// mean of all rounds.
double busiest_channel(const machine& on, const std::vector<traced_block>& blocks, const std::vector<packet>& packets,
                       std::size_t round) {
  double sum = 0;
  std::size_t rounds = 0;
  for (std::size_t first = 0; first < blocks.size(); first += round) {
    std::vector<double> bytes(on.channels);
    for (std::size_t i = first; i < std::min(blocks.size(), first + round); ++i) {
      for (const auto& steps : blocks[i].warps) {
        for (const step& each : steps) {
          for (std::uint32_t k = 0; k < each.packets; ++k) {
            const packet& one = packets[each.first_packet + k];
            bytes[channel_of(on, one.address)] += one.bytes;
          }
        }
      }
    }
    const double all = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    if (all == 0) continue;
    sum += *std::max_element(bytes.begin(), bytes.end()) * on.channels / all;
    ++rounds;
  }
  return rounds == 0 ? 1 : sum / static_cast<double>(rounds);
}

}  // namespace

unsigned resident_blocks(const datasheet& sheet, const machine& on, std::uint64_t threads, std::uint64_t shared_bytes) {
  const std::uint64_t lanes = rounded_up(threads, sheet.warp_size);
  std::uint64_t blocks = std::min(sheet.max_blocks_per_multiprocessor, sheet.max_threads_per_multiprocessor / lanes);
  blocks = std::min(blocks, sheet.registers_per_multiprocessor / (lanes * on.registers_per_thread));
  const std::uint64_t shared = rounded_up(shared_bytes + on.shared_overhead, 512);
  if (shared_bytes > 0) blocks = std::min(blocks, sheet.shared_bytes_per_multiprocessor / shared);
  return static_cast<unsigned>(std::max<std::uint64_t>(blocks, 1));
}

std::uint64_t blocks_to_record(const datasheet& sheet, const machine& on, const detail::launch_config& config) {
  const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
  const std::uint64_t round = resident_blocks(sheet, on, threads, config.shared_bytes) * sheet.multiprocessors;
  return std::max(least_recorded, rounds_recorded * round);
}

launch_prediction predict_launch(const datasheet& sheet, const machine& on, trace& recorded, std::uint64_t blocks,
                                 std::uint64_t threads_per_block, std::uint64_t dynamic_shared_bytes) {
  launch_prediction result;
  const std::vector<traced_block> traced = recorded.take_blocks();
  result.blocks = blocks;
  result.recorded = traced.size();
  if (traced.empty()) return result;
  const std::uint64_t shared = dynamic_shared_bytes + recorded.static_shared_bytes();
  result.resident = resident_blocks(sheet, on, threads_per_block, shared);
  const std::uint64_t tiles = result.resident * shared;
  launch_timer timer(on, traced, recorded.packets(), result.resident, on.l1_bytes > tiles ? on.l1_bytes - tiles : 0);
  timer.run();
  result.seconds = clocks_of(timer, blocks) / on.clock_hz;
  result.memory_bytes = timer.memory().bytes();
  result.busiest_channel = busiest_channel(on, traced, recorded.packets(), result.resident * on.multiprocessors);
  return result;
}

launch_predictor::launch_predictor(datasheet sheet)
    : sheet_(std::move(sheet)), on_(machine_of(sheet_)), with_code_(on_) {}

// The first blocks: those that run together on the device have to be recorded together.
block_sample launch_predictor::choose(const launch_facts& facts, block_sample) const {
  const std::uint64_t wanted = blocks_to_record(sheet_, on_, facts.config);
  if (wanted >= facts.blocks) return {1, 1};
  return {wanted, facts.blocks};
}

void launch_predictor::begin_launch(const launch_facts& facts) {
  with_code_ = on_;
  count_instructions(facts.kernel, sheet_.architecture, with_code_);
  trace_.emplace(rules_of(sheet_.architecture), with_code_);
}

void launch_predictor::add(const warp_access& access) {
  trace_->add(access);
}

void launch_predictor::end_launch(const launch_facts& facts) {
  const auto& block = facts.config.block;
  if (facts.waits) {
    launch_prediction none;
    none.blocks = facts.blocks;
    none.recorded = facts.recorded;
    none.waits = true;
    launches_.push_back(none);
    trace_.reset();
    return;
  }
  launches_.push_back(predict_launch(sheet_, with_code_, *trace_, facts.blocks,
                                     std::uint64_t{block.x} * block.y * block.z, facts.config.shared_bytes));
  trace_.reset();
}

double launch_predictor::seconds() const {
  double sum = 0;
  for (const launch_prediction& each : launches_) sum += each.waits ? 0 : each.seconds + on_.launch_seconds;
  return sum;
}

}  // namespace twill::simt::timing
