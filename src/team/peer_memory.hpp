#pragma once

// Where the ranks of a team find each other's memory.

#include <cstdint>
#include <vector>

#include "backends/peer_access.hpp"
#include "team/transport.hpp"

namespace twill::detail {

/// Memory of the ranks as one local rank addresses it. Closes what it opened of other processes.
class peer_memory {
 public:
  peer_memory() = default;
  ~peer_memory();
  peer_memory(const peer_memory&) = delete;
  peer_memory& operator=(const peer_memory&) = delete;

  /// Null where the ranks are not connected.
  void* at(int rank) const { return at_[static_cast<std::size_t>(rank)]; }

 private:
  friend std::vector<std::unique_ptr<peer_memory>> share_memory(const team_job&, const std::vector<void*>&);

  struct opened_memory {
    void* memory;
    std::int64_t offset;
  };

  device on_;
  std::vector<void*> at_;
  std::vector<opened_memory> opened_;
};

/// Collective: the memory that each local rank gives (null: none), as each local rank addresses that of the ranks
/// that it is connected with. Throws the same on all ranks: unsupported.
std::vector<std::unique_ptr<peer_memory>> share_memory(const team_job& job, const std::vector<void*>& mine);

}  // namespace twill::detail
