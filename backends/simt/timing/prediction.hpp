#pragma once

// The time that recorded launches would take on a device.

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/simt/models.hpp"
#include "backends/simt/recorder.hpp"
#include "machine.hpp"
#include "trace.hpp"

namespace twill::simt::timing {

/// Blocks that a multiprocessor holds at once.
unsigned resident_blocks(const datasheet& sheet, const machine& on, std::uint64_t threads, std::uint64_t shared_bytes);

/// How many blocks of a launch, from the first on, are to be recorded: all, or so many rounds of the blocks that the
/// device holds at once that the rate at which they end is steady.
std::uint64_t blocks_to_record(const datasheet& sheet, const machine& on, const detail::launch_config& config);

struct launch_prediction {
  double seconds = 0;          ///< of the kernel, without what its launch costs
  unsigned resident = 0;       ///< blocks of a multiprocessor
  double busiest_channel = 1;  ///< among blocks that run together: its bytes over those of a channel on average
  double memory_bytes = 0;     ///< read and written, of the recorded blocks
  std::uint64_t blocks = 0, recorded = 0;
  bool waits = false;  ///< its blocks wait for one another: for how long is not predicted, and `seconds` is 0
};

/// The time of a launch of `blocks` blocks, of which the first are in `recorded`.
launch_prediction predict_launch(const datasheet& sheet, const machine& on, trace& recorded, std::uint64_t blocks,
                                 std::uint64_t threads_per_block, std::uint64_t dynamic_shared_bytes);

/// Predicts each launch that it is given the accesses of.
class launch_predictor : public access_sink {
 public:
  explicit launch_predictor(datasheet sheet);

  block_sample choose(const launch_facts& facts, block_sample proposed) const override;
  void begin_launch(const launch_facts& facts) override;
  void add(const warp_access& access) override;
  void end_launch(const launch_facts& facts) override;

  const std::vector<launch_prediction>& launches() const { return launches_; }
  /// Of all launches but those that wait, one after the other, with what launching costs.
  double seconds() const;

 private:
  datasheet sheet_;
  machine on_;
  machine with_code_;  // and the instructions of the kernel that runs
  std::optional<trace> trace_;
  std::vector<launch_prediction> launches_;
};

}  // namespace twill::simt::timing
