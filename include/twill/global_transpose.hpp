#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/permute.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>
#include <twill/team.hpp>

namespace twill {

/// How an array is distributed over the ranks of a team. Dimension d is cut into `parts[d]` parts; the part of rank r
/// has as indices the mixed-radix digits of r in bases parts[0], parts[1] ..., the last fastest. Of an extent n cut
/// into p parts the first n % p have n / p + 1 indices, the others n / p; parts may be empty.
///   slab:    {{P, 1, 1}}       rank r holds planes
///   pencil:  {{P, Q, 1}}       rank p * Q + q
struct distribution {
  dims parts{};  ///< one number a dimension; their product is the team's size
  dims order{};  ///< dimension i of a rank's local array is global dimension order[i], outermost first; empty: 0,
                 ///< 1, 2...
  /// Leading dimensions, in the local order: how many indices memory has room for along each. At least the largest
  /// part's extent; 0, or an empty list: each rank's own extent. The first one is not used.
  dims lds{};
};

/// An array and its distribution before and after.
struct global_shape {
  dims extents{};  ///< of the whole array
  distribution in{}, out{};
};

/// What a rank holds of an array, by global dimension.
struct local_part {
  dims first{};               ///< its first index along each dimension
  dims extents{};             ///< how many indices
  dims strides{};             ///< elements from one to the next in the rank's memory
  std::int64_t elements = 0;  ///< from its first to its last element in memory, gaps included; 0 where it is empty
};

/// The part of `rank`: what it must have memory for. Throws: invalid_argument.
TWILL_API local_part part_of(const dims& extents, const distribution& lies, int rank);

/// What carries the elements from one rank to another.
enum class transport {
  automatic,  ///< direct or copy by cost where they are possible, else nccl, else mixed where a node has several
              ///< ranks, else mpi; the same on all ranks
  direct,     ///< kernels store into the memory of the peers: devices of one process, or GPUs of one host
  mpi,        ///< through host memory and the messages of a `team_link`, or memory that ranks of a host on "cpu" share:
              ///< the host waits for them
  copy,       ///< permuted part by part, and pushed into the peers' memory by copy engines; where `direct` is possible
  nccl,       ///< NCCL's or RCCL's grouped sends and receives, packed and unpacked: a GPU for each rank
  mixed,      ///< direct or copy by cost within a node; between nodes nccl where it is possible, else mpi
};

/// "direct". Throws: invalid_argument when `via` is none of the enumerators.
TWILL_API const char* name(transport via);

struct global_options {
  transport via = transport::automatic;
  /// How long a rank waits for the others before the call fails and says who is missing; at most ten years. Of messages
  /// by a link, the link's own limit counts.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  /// Of direct: blocks of threads that store to each peer at a time; 0: two blocks a multiprocessor in all.
  int blocks_per_peer = 0;
  /// Of copy and nccl: into how many parts the data for each peer is cut, so that one is permuted while another is on
  /// the link; 1,024 at most; 0: by their size.
  int parts = 0;
  /// Ranks that count as one node: rank r is on node r / ranks_per_node, and direct and copy do not reach beyond it;
  /// 0: a node is a host.
  int ranks_per_node = 0;
  /// What `global_transpose::tune` returned for the same array, team and element size: transport, blocks and parts are
  /// what it says, `via`, `blocks_per_peer` and `parts` must not be set. The same on all ranks; empty: none.
  std::string tuning;
};

/// Memory of a local rank. `in` and `out` do not overlap, unless they are the same pointer: then the rank is
/// redistributed in place, and `scratch`, not used otherwise, holds `global_transpose_scratch_bytes(...)` bytes.
/// A pointer of an empty part may be null.
struct member_memory {
  const void* in = nullptr;
  void* out = nullptr;
  scratch_ref scratch{};
};

/// Bytes of scratch that `rank` needs in place: as many as its part of the input spans. Throws: invalid_argument.
TWILL_API std::size_t global_transpose_scratch_bytes(extent element_bytes, const global_shape& shape, int rank);

/// Redistributes an array over the ranks of a team, with its local dimensions in another order: a global transpose. A
/// plan: it is made once for given memory and run any number of times.
///
/// An empty object (default-constructed or moved from) may be destroyed and assigned to; everything else throws
/// invalid_argument. Plans and teams may be destroyed in any order, once the work on the streams has completed and
/// graphs that captured nccl runs have been destroyed.
class TWILL_API global_transpose {
 public:
  global_transpose() noexcept;

  /// Collective: all ranks give the same shape and options, and each its own memory, an entry for each local rank.
  ///
  /// Shape: `{{4, 6}, {{2, 1}}, {{1, 2}, {1, 0}}}` on 2 ranks: rank 0 holds rows 0 and 1 of a 4 x 6 matrix, rank 1
  ///   rows 2 and 3; afterwards rank 0 holds rows 0 to 2 of the transposed 6 x 4 matrix, rank 1 rows 3 to 5.
  /// Memory: device memory of each rank's device, `part_of(...).elements` elements of `element_bytes` (1 to 64) bytes;
  ///   no alignment beyond 1 byte. Valid until the plan is destroyed on every rank. The plan allocates on each
  ///   device 24 bytes a rank for the handshake; transport mpi buffers of up to 16 MiB on device and host, and
  ///   between ranks on "cpu" 1 MiB of shared memory each; transport copy as much as the rank sends; transport nccl as
  ///   much as it sends and receives, less what needs no packing; transport mixed what its two transports need for the
  ///   pieces that each carries.
  ///   In place, each run begins with a copy of the rank's input to its scratch.
  /// Order: waits for the other ranks.
  /// Throws: the same on every rank, naming the first rank that has a reason: invalid_argument, also where ranks
  ///   disagree; unsupported where the named one, or every transport, fails to reach a peer; out_of_memory;
  ///   device_fault when the link fails.
  global_transpose(const team& on, extent element_bytes, const global_shape& shape,
                   const std::vector<member_memory>& local, const global_options& options = {});
  ~global_transpose();
  global_transpose(global_transpose&& other) noexcept;
  global_transpose& operator=(global_transpose&& other) noexcept;
  global_transpose(const global_transpose&) = delete;
  global_transpose& operator=(const global_transpose&) = delete;

  /// Collective: every rank runs the plan the same number of times, `streams` with an entry for each local rank.
  ///
  /// Units: 2 * part * element_bytes bytes are moved on each rank, of which those of other ranks leave the device.
  /// Order: transport direct: asynchronous in the streams on GPUs, without allocation or synchronisation. Each rank's
  ///   `out` is written after what its stream held before, on whatever device the data comes from, and is complete for
  ///   what its stream is given later. Transports copy and nccl likewise. On "cpu" and "simt", and by transport
  ///   mpi, the work is done when the call returns. Transport mixed: asynchronous where nccl connects the nodes; where
  ///   mpi does, the host waits for the pieces between nodes, and what is within a node may still be in the streams.
  /// Throws: invalid_argument; launch_failed; device_fault naming the ranks that did not arrive in time, after
  ///   which the plan cannot be run.
  void run(const std::vector<stream_ref>& streams);
  /// The same where this process holds one rank.
  void run(stream_ref stream) { run(std::vector<stream_ref>{stream}); }

  /// Collective: times the transports that reach all ranks (of direct with several numbers of blocks for each peer, of
  /// copy with several numbers of parts), and keeps the fastest, by the median of its slowest rank in the best of three
  /// rounds: the same on all ranks. What the plan's options name is not varied. Nothing else ever measures.
  ///
  /// Units: in each round 2 runs of each, and `runs` samples of 1 to 32 runs, timed by the host's clock.
  /// Memory: as of `run`; where a rank is in place, its array is lost. Transports are made one after the other, and
  ///   need what the plan's would.
  /// Order: waits for the streams and for the other ranks.
  /// Returns: a line, the same on all ranks, to save and to give to later plans as `global_options::tuning`.
  /// Throws: as the constructor and `run`, the same on every rank; the plan cannot be run afterwards.
  std::string tune(const std::vector<stream_ref>& streams, int runs = 5);
  /// The same where this process holds one rank.
  std::string tune(stream_ref stream, int runs = 5) { return tune(std::vector<stream_ref>{stream}, runs); }

  /// The transport in use; never `automatic`.
  transport via() const;

  /// Bytes that local rank `local_ranks()[i]` sends to other ranks in one run.
  std::int64_t bytes_sent(int i) const;
  /// Bytes that local rank `local_ranks()[i]` sends to rank `peer` in one run; of itself, what stays on its device.
  std::int64_t bytes_sent(int i, int peer) const;

 private:
  struct impl;
  impl& get() const;
  std::unique_ptr<impl> impl_;
};

}  // namespace twill
