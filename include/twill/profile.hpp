#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <twill/device.hpp>
#include <twill/export.hpp>

namespace twill {

/// What kernels asked of global memory: by loads, by stores, or by atomics. A request is a memory instruction of a
/// warp, or each part that the architecture splits one into; a sector is the least that it moves: 32 bytes, or a
/// segment or line.
struct global_traffic {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t ideal_sectors = 0;  ///< if the same bytes were contiguous
  std::uint64_t bytes_used = 0;     ///< that threads asked for, each byte of an instruction once
  std::uint64_t bytes_moved = 0;    ///< in sectors
};

/// What kernels asked of shared memory: by loads, by stores, or by atomics. A wavefront is one cycle of all banks.
struct shared_traffic {
  std::uint64_t requests = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;  ///< without bank conflicts

  std::uint64_t conflicts() const { return wavefronts - ideal_wavefronts; }
};

/// What a profiler counts. Atomics are those that change memory (atomic_add and its kin); relaxed loads and stores are
/// loads and stores. The serialisation of atomics on one word is not counted.
struct TWILL_API traffic {
  global_traffic loads, stores, atomics;
  shared_traffic shared_loads, shared_stores, shared_atomics;

  std::uint64_t shared_conflicts() const {
    return shared_loads.conflicts() + shared_stores.conflicts() + shared_atomics.conflicts();
  }

  /// Of global loads and stores together; 0 without any. 4 is what a warp of 32 needs for 4 bytes a lane.
  double sectors_per_request() const {
    const auto requests = loads.requests + stores.requests;
    return requests == 0 ? 0 : static_cast<double>(loads.sectors + stores.sectors) / static_cast<double>(requests);
  }

  /// The fraction of the bytes that loads and stores moved between global memory and the multiprocessors that threads
  /// asked for.
  double used() const {
    const auto moved = loads.bytes_moved + stores.bytes_moved;
    return moved == 0 ? 1 : static_cast<double>(loads.bytes_used + stores.bytes_used) / static_cast<double>(moved);
  }

  void add(const traffic& other);
};

/// The accesses of one line to one bank of shared memory. More wavefronts than ideal: bank conflicts.
struct bank_load {
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;  ///< without conflicts
};

/// The accesses on one line of a kernel's source.
struct line_profile : traffic {
  std::string file;              ///< as it was given to the compiler; empty when the program has no line tables
  unsigned line = 0;             ///< from 1 on
  std::vector<bank_load> banks;  ///< empty when the line uses no shared memory
};

/// One launch.
struct kernel_profile : traffic {
  std::string name;  ///< qualified, with template arguments
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  std::size_t shared_bytes = 0;       ///< dynamic shared memory of a block
  std::uint64_t blocks = 0;           ///< of the grid
  std::uint64_t recorded_blocks = 0;  ///< of those: what the counts are of
  std::vector<line_profile> lines;    ///< by file and line
  /// Its blocks poll for values that others write (load_relaxed, load_acquire). A repeated poll of a thread is counted
  /// once; which block takes which work depends on the CPU, and so may some of the counts.
  bool waits = false;
  /// Bytes of each partition (channel) of memory: a row for about as many blocks as run together, in their order.
  std::vector<std::vector<std::uint64_t>> partitions;
};

/// The launches of some work, in order, and their counts in all.
struct profile : traffic {
  std::vector<kernel_profile> kernels;
  std::string sectors_are = "sectors";  ///< what the device's documents call them: or "segments", or "lines"
};

struct profile_options {
  /// A launch with more threads is sampled: runs of blocks, spread evenly over the grid, of so many threads in all.
  std::uint64_t most_threads = std::uint64_t{1} << 22;
};

/// Runs `work` and returns what its kernels asked of memory, as a profiler on that GPU would count it.
///
///     auto gpu = twill::device::open("simt:h200");
///     twill::stream stream(gpu);
///     ...
///     auto seen = twill::take_profile(gpu, [&] { twill::transpose(stream, in.data(), out.data(), {1024, 1024}); });
///     assert(seen.shared_conflicts() == 0 && seen.loads.sectors == seen.loads.ideal_sectors);
///
/// What lanes of a warp do at one line of the source, between the same barriers, is taken for one instruction, for
/// compilers keep `a ? p[x] : p[y]` in one. Where they do not, or where both arms of a branch call one inline function
/// that accesses memory, a GPU may issue two requests; here they count as one.
///
/// Order: launches on `on` from other threads meanwhile are counted as well, one after another. Does not wait for
///   streams: simulated kernels have run when their call returns.
/// Throws: unsupported (not a simulated device with a model; a build with sanitizers; another profile or prediction of
///   `on` is being taken); what `work` throws.
TWILL_API profile take_profile(const device& on, const std::function<void()>& work,
                               const profile_options& options = {});

}  // namespace twill
