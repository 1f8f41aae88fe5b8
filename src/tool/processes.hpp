#pragma once

// The processes that a bench of a team runs in: this one alone, with all ranks, or those of mpirun, a rank each.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <twill/team.hpp>

namespace twill::tool {

class processes {
 public:
  virtual ~processes() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }

  /// The team: all of `devices` here, or one for each process, those of a host taking them in turn. Collective.
  virtual team make_team(const std::vector<device>& devices) const { return team::of_devices(devices); }

  // Collective calls, the same in all processes.

  /// Calls step() here, and throws what the first process in which it threw says.
  void together(const std::function<void()>& step) const;
  double largest(double mine) const;
  bool any(bool mine) const { return largest(mine ? 1 : 0) > 0; }
  /// Of the device of every process, in the order of ranks.
  std::vector<device_properties> all_properties(const device_properties& mine) const;
  /// Before a process ends by an error: waits for the others to end as well, and ends all where they do not, which
  /// wait for this one in a call that it does not make.
  virtual void end_by_error(const std::string&) const {}
  /// The text of the first process whose text is not "".
  std::string first_text(const std::string& mine) const;

 protected:
  /// `bytes` bytes of every process to `all`, in the order of ranks.
  virtual void gather(const void* mine, void* all, std::size_t bytes) const;
};

/// This process' rank as the launcher says it (mpirun, srun); 0 where there is none.
int launched_rank();

/// Those of the launcher, where one started several; else this one alone. Refuses several where the tool is built
/// without MPI.
std::unique_ptr<processes> all_processes();

}  // namespace twill::tool
