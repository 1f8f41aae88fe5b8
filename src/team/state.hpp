#pragma once

// What a team is inside: its members, and the collective calls that everything else is made of.

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <twill/error.hpp>
#include <twill/team.hpp>

namespace twill::detail {

/// The outcome of a collective step on one rank.
struct verdict {
  std::int32_t code = -1;  ///< of an errc; -1: all is well
  char text[300] = {};
};

class team_state {
 public:
  team_state(std::vector<device> devices, team_link link);

  int size() const noexcept { return size_; }
  const std::vector<int>& local() const noexcept { return local_; }
  int local_count() const noexcept { return static_cast<int>(local_.size()); }
  const device& local_device(int i) const { return devices_[static_cast<std::size_t>(i)]; }
  const std::vector<team_member>& members() const noexcept { return members_; }
  const team_link& link() const noexcept { return link_; }
  bool has_messages() const { return link_.send && link_.receive && link_.finish; }

  /// Whether the memory of `rank` belongs to this process.
  bool same_process(int rank) const { return processes_[static_cast<std::size_t>(rank)] == own_process_; }
  bool same_host(int rank) const { return members_[static_cast<std::size_t>(rank)].host == own_host_; }

  /// Collective: a value of each local rank in, one of every rank out.
  template <class T>
  std::vector<T> gather(const std::vector<T>& local) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!link_.allgather) return local;
    std::vector<T> all(static_cast<std::size_t>(size_));
    gather_bytes(local.data(), all.data(), sizeof(T));
    return all;
  }

  /// Collective: calls step(i) for each local rank, and throws the same on every rank when one of them threw.
  void together(const std::function<void(int)>& step) const;

  /// Collective: what why(i) says for the first rank, of all processes, for which that is not ""; "" where none has
  /// one.
  std::string first_reason(const std::function<std::string(int)>& why) const;

 private:
  void gather_bytes(const void* mine, void* all, std::size_t bytes) const;
  void introduce();

  int size_;
  std::vector<device> devices_;
  std::vector<int> local_;
  team_link link_;
  std::vector<team_member> members_;
  std::vector<std::uint64_t> processes_;  // by rank: numbers that no two processes share
  std::uint64_t own_process_ = 0;
  std::string own_host_;
};

}  // namespace twill::detail
