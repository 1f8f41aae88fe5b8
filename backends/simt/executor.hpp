#pragma once

// Spreads the blocks of a grid over the OS threads of the device.

#include "backends/host/thread_team.hpp"
#include "block_runner.hpp"

namespace twill::simt {

class executor {
 public:
  /// `team` must outlive it.
  explicit executor(host::thread_team& team);

  /// Runs all blocks; no more are begun once one has failed. Throws: device_fault, out_of_memory.
  void run(const grid_launch& launch);

 private:
  host::thread_team& team_;
};

}  // namespace twill::simt
