// Taking a profile: what is recorded, counted by the rules of the device's architecture.

#include <twill/profile.hpp>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "backends/error.hpp"
#include "backends/simt/timing/channels.hpp"
#include "backends/simt/timing/prediction.hpp"
#include "simt_device.hpp"
#include "transaction_counter.hpp"

namespace twill {
namespace {

global_traffic plain(const simt::global_counts& c) {
  return {c.requests, c.transactions, c.ideal_transactions, c.bytes_used, c.bytes_moved};
}

shared_traffic plain(const simt::shared_counts& c) {
  return {c.requests, c.wavefronts, c.ideal_wavefronts};
}

traffic plain(const simt::access_counts& c) {
  return {plain(c.global_loads), plain(c.global_stores), plain(c.global_atomics),
          plain(c.shared_loads), plain(c.shared_stores), plain(c.shared_atomics)};
}

void add_to(global_traffic& sum, const global_traffic& other) {
  sum.requests += other.requests;
  sum.sectors += other.sectors;
  sum.ideal_sectors += other.ideal_sectors;
  sum.bytes_used += other.bytes_used;
  sum.bytes_moved += other.bytes_moved;
}

void add_to(shared_traffic& sum, const shared_traffic& other) {
  sum.requests += other.requests;
  sum.wavefronts += other.wavefronts;
  sum.ideal_wavefronts += other.ideal_wavefronts;
}

std::vector<bank_load> plain(const simt::bank_counts& c, unsigned banks) {
  std::vector<bank_load> all;
  for (unsigned bank = 0; bank < banks; ++bank) all.push_back({c.wavefronts[bank], c.ideal[bank]});
  return all;
}

class profile_sink : public simt::access_sink {
 public:
  explicit profile_sink(simt::datasheet sheet) : sheet_(std::move(sheet)), on_(simt::timing::machine_of(sheet_)) {
    counter_.emplace(sheet_.architecture);
    taken.sectors_are = simt::rules_of(sheet_.architecture).unit;
  }

  void begin_launch(const simt::launch_facts& facts) override {
    counter_.emplace(sheet_.architecture);
    const auto& block = facts.config.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    const std::uint64_t together =
        resident_blocks(sheet_, on_, threads, facts.config.shared_bytes) * std::uint64_t{on_.multiprocessors};
    window_ = std::max(together, (facts.blocks + most_windows - 1) / most_windows);
    partitions_.assign((facts.blocks + window_ - 1) / window_, std::vector<std::uint64_t>(on_.channels));
  }

  void add(const simt::warp_access& access) override {
    const simt::global_cost* moved = counter_->add(access);
    if (moved == nullptr) return;
    auto& row = partitions_[access.block / window_];
    for (unsigned i = 0; i < moved->transactions; ++i) {
      row[channel_of(on_, moved->list[i].address)] += moved->list[i].bytes;
    }
  }

  void end_launch(const simt::launch_facts& facts) override {
    kernel_profile one;
    static_cast<traffic&>(one) = plain(counter_->total());
    one.name = facts.kernel;
    const auto &grid = facts.config.grid, &block = facts.config.block;
    std::tie(one.grid[0], one.grid[1], one.grid[2]) = std::tie(grid.x, grid.y, grid.z);
    std::tie(one.block[0], one.block[1], one.block[2]) = std::tie(block.x, block.y, block.z);
    one.shared_bytes = facts.config.shared_bytes;
    one.blocks = facts.blocks;
    one.recorded_blocks = facts.recorded;
    one.waits = facts.waits;
    for (const auto& [site, counts] : counter_->sites()) {
      line_profile line;
      static_cast<traffic&>(line) = plain(counts);
      line.file = facts.lines[site].file;
      line.line = facts.lines[site].line;
      const auto banks = counter_->banks().find(site);
      if (banks != counter_->banks().end())
        line.banks = plain(banks->second, simt::rules_of(sheet_.architecture).banks);
      one.lines.push_back(std::move(line));
    }
    std::sort(one.lines.begin(), one.lines.end(), [](const line_profile& a, const line_profile& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    one.partitions = std::move(partitions_);
    taken.add(one);
    taken.kernels.push_back(std::move(one));
  }

  profile taken;

 private:
  static constexpr std::uint64_t most_windows = 64;

  const simt::datasheet sheet_;
  const simt::timing::machine on_;
  // Of the launch that runs
  std::optional<simt::transaction_counter> counter_;
  std::vector<std::vector<std::uint64_t>> partitions_;  // a row for `window_` blocks
  std::uint64_t window_ = 1;
};

// Records until it goes.
class profiling_scope {
 public:
  profiling_scope(simt::simt_device& on, simt::access_sink& sink, std::uint64_t most_threads) : on_(on) {
    on_.record(&sink, most_threads);
  }
  ~profiling_scope() { on_.stop_recording(); }
  profiling_scope(const profiling_scope&) = delete;
  profiling_scope& operator=(const profiling_scope&) = delete;

 private:
  simt::simt_device& on_;
};

}  // namespace

void traffic::add(const traffic& other) {
  add_to(loads, other.loads);
  add_to(stores, other.stores);
  add_to(atomics, other.atomics);
  add_to(shared_loads, other.shared_loads);
  add_to(shared_stores, other.shared_stores);
  add_to(shared_atomics, other.shared_atomics);
}

profile take_profile(const device& on, const std::function<void()>& work, const profile_options& options) {
  auto* const simulated = dynamic_cast<simt::simt_device*>(on.impl().get());
  if (simulated == nullptr || on.properties().name == "simt") {
    detail::fail(errc::unsupported, "no profile can be taken on " + on.properties().name,
                 simulated == nullptr ? "it is not a simulated device" : "it is no GPU in particular",
                 "open a model, such as \"simt:h200\"");
  }
  profile_sink sink(simt::find_datasheet(std::string_view(on.properties().name).substr(5)));  // behind "simt:"
  {
    const profiling_scope scope(*simulated, sink, options.most_threads);
    work();
  }
  return std::move(sink.taken);
}

}  // namespace twill
