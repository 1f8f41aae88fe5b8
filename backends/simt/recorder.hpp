#pragma once

// Puts the accesses of threads together into those of warps, as a GPU would execute them. The simulated threads of a
// warp run one after the other, so what its lanes do at one place of the code, between the same barriers, for the same
// time, is one warp instruction. Places on one line of the source that no lane visits both count as one: compilers for
// the CPU make two of `out = a ? p[x] : p[y]`, those for GPUs one; so an inline function that both arms of a branch
// call counts once too, where a GPU may issue it twice. A lane that skips an iteration of a loop which others take
// counts as one iteration behind. An atomic load that a thread repeats, for what another block is to write, counts
// once: how often it is repeated here depends on the CPU. Repeated means from the same line of the source, because
// compilers give the first iteration of a loop a copy of its code.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "access_kind.hpp"
#include "backends/launch_config.hpp"
#include "source_line.hpp"
#include "warp_access.hpp"

namespace twill::simt {

/// A launch, as its sink needs it.
struct launch_facts {
  std::string kernel;  ///< qualified, with template arguments
  detail::launch_config config;
  unsigned warp_lanes = 32;
  std::uint64_t blocks = 0;        ///< of the grid
  std::uint64_t recorded = 0;      ///< of those; `end_launch` knows it
  std::vector<source_line> lines;  ///< of the source, by site number; `end_launch` knows them
  bool waits = false;              ///< its blocks look for what others write meanwhile; `end_launch` knows it
};

/// Which blocks are recorded: of every `every` runs of `run` consecutive blocks the first. All of them when `every`
/// is 1.
struct block_sample {
  std::uint64_t run = 1, every = 1;

  /// Of a grid of `blocks` blocks, so many that they have about `most_threads` threads.
  static block_sample of(std::uint64_t blocks, std::uint64_t threads_per_block, std::uint64_t most_threads);

  bool takes(std::uint64_t block) const { return every <= 1 || block / run % every == 0; }
};

/// Takes what is recorded. Its functions are called one at a time.
class access_sink {
 public:
  virtual ~access_sink() = default;
  /// Which blocks of a launch it is to be given; `proposed` unless it has needs of its own.
  virtual block_sample choose(const launch_facts&, block_sample proposed) const { return proposed; }
  virtual void begin_launch(const launch_facts&) {}
  virtual void add(const warp_access& access) = 0;
  virtual void end_launch(const launch_facts&) {}
};

/// A recording of one launch, shared by the OS threads that run its blocks.
class recording {
 public:
  /// `sink` and `lines` must outlive it.
  recording(access_sink& sink, launch_facts facts, block_sample sample, source_lines& lines);

  const launch_facts& facts() const noexcept { return facts_; }
  bool takes(std::uint64_t block) const { return sample_.takes(block); }

  /// Gives the sink the accesses of one block; `f(sink)` is called while no other OS thread is at it.
  template <class F>
  void with_sink(F&& f) {
    const std::lock_guard lock(mutex_);
    f(sink_);
  }
  void count_block();
  void note_wait();
  /// The number of the line that a place in the code comes from. Where there is no line table each place is a line.
  std::uint32_t site_of(const void* place);

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint32_t> sites_;  // by the text of the line
  access_sink& sink_;
  launch_facts facts_;
  block_sample sample_;
  source_lines& lines_;
};

class recorder {
 public:
  explicit recorder(recording& into);

  void begin_block(std::uint64_t block, unsigned threads);
  void add(unsigned thread, memory_space space, std::uint64_t address, std::size_t bytes, access_kind kind,
           const void* place);
  /// Gives what there is to the sink.
  void end_interval(unsigned interval);

 private:
  // A place of the code, for one kind of access: how often each thread was there, and what its warps made of it.
  struct place_record {
    std::uint32_t site;
    std::uint8_t bytes;
    memory_space space;
    access_kind kind;

    struct visits {
      std::uint32_t interval = 0;  // of the count below
      std::uint32_t count = 0;
    };
    struct warp_visits {
      std::uint32_t interval = 0;
      std::uint64_t lanes = 0;                  // that were here
      std::vector<std::uint32_t> instructions;  // in order of time: indices in warps_
    };
    std::vector<visits> threads;
    std::vector<warp_visits> warps;

    bool same_kind(const place_record& other) const {
      return site == other.site && bytes == other.bytes && space == other.space && kind == other.kind;
    }
  };

  // One warp instruction, while its lanes come in. Their addresses are `addresses_[first + lane]`.
  struct instruction {
    place_record* place;
    std::uint32_t time;
    std::size_t first;
    std::uint64_t active;
  };

  // Places that count as one.
  struct alternatives {
    place_record* head;
    std::uint64_t lanes;
  };

  place_record& record_of(const void* place, memory_space space, std::size_t bytes, access_kind kind);
  bool is_polled_again(std::uint32_t site, unsigned thread, std::uint64_t address);
  void unite_alternatives(unsigned warp);
  place_record* head_of(place_record& place, unsigned warp);

  recording& into_;
  const unsigned lanes_;
  std::uint64_t block_ = 0;
  std::uint32_t interval_ = 1;  // a count over all blocks
  unsigned threads_ = 0;
  std::unordered_map<std::uint64_t, place_record> places_;
  std::uint64_t last_key_ = 0;
  place_record* last_ = nullptr;
  std::vector<std::vector<instruction>> warps_;
  std::vector<std::uint64_t> addresses_;
  std::vector<alternatives> groups_;
  std::set<std::tuple<std::uint32_t, unsigned, std::uint64_t>> polled_;  // since the last barrier
  bool waits_ = false;
};

}  // namespace twill::simt
