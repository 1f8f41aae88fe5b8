#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <twill/device.hpp>
#include <twill/export.hpp>

namespace twill {

/// The order in which a simulated device runs what real devices run at once: the threads of a block from one barrier
/// to the next, and the blocks of a grid.
enum class interleaving {
  forward,   ///< ascending, as a loop would
  reverse,   ///< descending
  shuffled,  ///< in an order drawn from a seed, another one for each block and barrier interval
};

/// Chooses the order for launches on a simulated device from now on; a kernel with a race gives other results under
/// another order. `seed` is for `shuffled`: the same seed gives every block the same orders again, whatever the number
/// of OS threads. (Which blocks run at the same time, and so what they race for, is up to the OS.)
/// The environment variable TWILL_SIMT_ORDER ("forward", "reverse", "shuffled", "shuffled:SEED") sets the order that a
/// device starts with; without it that is `forward`.
/// Throws: unsupported when `on` is not a simulated device.
TWILL_API void set_interleaving(const device& on, interleaving order, std::uint64_t seed = 0);

/// Switches checks on or off for a simulated device, from now on. Launches are checked for out-of-bounds, misaligned
/// and use-after-free accesses; for reads of uninitialised device memory (allocated since) or shared memory; for data
/// races between the threads of a block since their last barrier, on shared and on global memory; for races between
/// streams, ranks of a team among them; for threads that wait at different barriers; for accesses to global memory in a
/// dependent launch (CUDA's programmatic dependent launch) before its thread has waited for the preceding kernel. Each
/// is a device_fault at `stream.wait()` that names the kernel, the block, the thread and the source line. Kernels take
/// about ten times as long.
///
/// Two accesses of different streams race when nothing orders them: no event, no wait of the host, no handshake. They
/// are found whatever the order in which they ran here. Not followed: the default stream, allocations above 64 MiB, and
/// what was given to the only stream there was.
///
/// Host calls (uploads, downloads, copies, fills, offsets of segments) that leave an allocation, or use released memory
/// or memory of the host as device memory, throw invalid_argument before anything moves, naming the call, the
/// allocation and the offset. Without checks, those that start inside an allocation and leave it still throw. Not
/// found: stores past the end of a static `__shared__` array, because other shared memory follows it; loads from there
/// are uninitialised reads, unless the block has written it; misaligned structs of one's own that the compiler loads
/// member by member (16-byte vectors and 64-bit words are seen as one access). Dynamic shared memory is bounded by the
/// launch. The environment variable TWILL_SIMT_CHECK=1 switches the checks on for devices that are opened. Throws:
/// unsupported when `on` is not a simulated device, and in builds with sanitizers.
TWILL_API void set_checks(const device& on, bool wanted);

/// How many of `bytes` bytes of device memory nobody has written since it was allocated with the checks on: elements
/// that an operation has left out. 0 for memory that was allocated with the checks off. Throws: unsupported when `on`
/// is not a simulated device.
TWILL_API std::size_t unwritten_bytes(const device& on, const void* memory, std::size_t bytes);

/// How many steps one thread may take in one launch before it counts as an endless loop, a device_fault with its
/// source line. A step is an access of memory, a barrier or a shuffle; a loop without any is not detected, and hangs.
/// Counted while launches are checked or recorded, in blocks outside of a sample too. It starts at 2^28. Throws:
/// unsupported when `on` is not a simulated device.
TWILL_API void set_step_limit(const device& on, std::uint64_t steps);

/// Whether a device predicts times: a simulated one with a model, "simt:h200", does, but in a build with sanitizers;
/// "simt" is no GPU in particular.
TWILL_API bool predicts(const device& on);

/// The time that kernels would take on the GPU that a device simulates.
struct predicted_time {
  double seconds = 0;        ///< of all launches but the waiting ones, one after the other, with what launching costs
  std::size_t launches = 0;  ///< kernels
  /// Of those, kernels whose blocks wait for one another (by load_relaxed or load_acquire): how long they wait and
  /// which block finds what to do are up to the CPU here, and no prediction is made of it.
  std::size_t waiting = 0;
  bool sampled = false;  ///< some launch was too large to follow all its blocks
  /// What the busiest channel of memory gets of the bytes of blocks that run together, over what each gets on average;
  /// of the launch that takes longest.
  double busiest_channel = 1;
};

/// Runs `work` and predicts the time of its kernels, from the memory accesses of their first blocks and the device's
/// datasheet (presets/devices; README.md there says how). Memory is cold: nothing lies in a cache before a launch.
/// Order: as take_profile.
/// Throws: unsupported (a device that does not predict; a build with sanitizers; another profile or prediction of `on`
///   is being taken); what `work` throws.
TWILL_API predicted_time predict(const device& on, const std::function<void()>& work);

/// What predictions for the device that `on` simulates were compared with, and how well they agreed: "compared_with" of
/// its datasheet, "an H200 SXM: 40 rows ..., median error 5.2 %". Empty when nothing was compared: print that beside
/// predicted numbers.
/// Throws: unsupported (not a simulated device with a model).
TWILL_API std::string predictions_compared_with(const device& on);

/// The time that the GPU's own memcpy of `bytes` bytes within its memory would take.
/// Throws: unsupported (a device that does not predict).
TWILL_API double predicted_copy_seconds(const device& on, std::size_t bytes);

/// The time that the links of the GPU that a device simulates need for what leaves one GPU in an exchange: `bytes_sent`
/// to all peers, of which `bytes_to_one_peer` to the one that gets most. A lower bound: latency is not in it, and the
/// rate is the published one, or that of copies where the datasheet has a measured one ("link").
/// Throws: unsupported (a device that does not predict, or whose datasheet has no link); invalid_argument (a negative
///   number, or more to one peer than to all).
TWILL_API double predicted_link_seconds(const device& on, std::int64_t bytes_sent, std::int64_t bytes_to_one_peer);

/// What `predicted_link_seconds` calculates with: "NVLink 4, 391 GB/s out of each device, measured". Throws: as it.
TWILL_API std::string link_of(const device& on);

}  // namespace twill
