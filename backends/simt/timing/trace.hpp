#pragma once

// What the blocks of a launch do, as far as it takes time: the recorded accesses of their warps, priced.

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "backends/simt/access_rules.hpp"
#include "backends/simt/transaction_counter.hpp"
#include "machine.hpp"

namespace twill::simt::timing {

enum class step_kind : std::uint8_t { global_load, global_store, shared_load, shared_store, barrier };

inline bool is_global(step_kind kind) {
  return kind == step_kind::global_load || kind == step_kind::global_store;
}
inline bool is_store(step_kind kind) {
  return kind == step_kind::global_store || kind == step_kind::shared_store;
}

/// What travels between a multiprocessor and memory together: the transactions in one line.
struct packet {
  std::uint64_t address;
  std::uint32_t bytes;
};

struct step {
  step_kind kind;
  float lsu_clocks = 0;    ///< of the load/store unit
  float instructions = 0;  ///< before it, of the same warp: for its address and what the recorder reports
  std::uint32_t first_packet = 0, packets = 0;
};

struct traced_block {
  std::uint64_t id = 0;
  std::vector<std::vector<step>> warps;
};

/// Collects accesses. Those of one warp come in the order of its program; blocks may come in any order.
class trace {
 public:
  trace(const access_rules& rules, const machine& on)
      : rules_(rules),
        packet_bytes_(on.packet_bytes),
        address_instructions_(on.address_instructions),
        shared_instructions_(on.shared_instructions) {}

  void add(const warp_access& access);

  /// The blocks, ascending, each with as many barriers in all its warps. Call it once, when all accesses are there.
  std::vector<traced_block> take_blocks();
  const std::vector<packet>& packets() const { return packets_; }
  /// How much of its __shared__ variables a block uses. Where they lie says nothing about how many there are: those of
  /// all kernels of the library have their places among each other.
  std::uint64_t static_shared_bytes() const;
  const access_counts& counts() const { return counts_; }

 private:
  struct open_block {
    std::vector<std::vector<step>> warps;
    std::vector<std::uint32_t> intervals;
    std::vector<std::unordered_set<std::uint64_t>> known;  // of each warp: sites with the addresses used there
  };
  static constexpr std::uint64_t shared_unit = 64;  // bytes: more than the padding between rows of a tile
  void add_packets(const global_cost& cost, step& to);
  void note_static_shared(const warp_access& access);

  const access_rules& rules_;
  unsigned packet_bytes_;
  double address_instructions_, shared_instructions_;
  std::map<std::uint64_t, open_block> blocks_;
  std::vector<packet> packets_;
  std::vector<bool> static_shared_;  // by unit: whether some block has touched it
  access_counts counts_;
};

}  // namespace twill::simt::timing
