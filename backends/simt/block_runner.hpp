#pragma once

// Runs the blocks that one OS thread is given, one after another: the threads of a block are fibers that hand over to
// each other where the kernel waits. It is used on one OS thread only.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "access_observer.hpp"
#include "backends/launch_config.hpp"
#include "fiber.hpp"
#include "identity.hpp"
#include "kernel_call.hpp"
#include "order.hpp"

namespace twill::simt {

/// One launch, as all OS threads see it.
struct grid_launch {
  kernel_call kernel;
  detail::launch_config config;
  schedule order;
  source_lines* lines = nullptr;              ///< for messages
  const launch_observer* observer = nullptr;  ///< nullptr: accesses are not observed
};

class block_runner {
 public:
  static constexpr unsigned max_threads = ready_queue::capacity;

  /// `guarded`: stacks end at a page that cannot be touched. Throws: out_of_memory.
  explicit block_runner(bool guarded);
  ~block_runner();
  block_runner(const block_runner&) = delete;
  block_runner& operator=(const block_runner&) = delete;

  /// Makes ready for the blocks of `launch`, which must stay where it is until the last of them has run.
  void begin(const grid_launch& launch);

  /// Runs one block to its end. Throws: device_fault, with all its threads unwound.
  void run(std::uint64_t block);

  // What a simulated thread calls, through identity.hpp.
  void barrier(const void* place);
  std::uint64_t exchange(std::uint64_t bits, unsigned source, const void* place);

  /// Ends the block with a fault of the running thread. Unlike an exception it leaves from anywhere, also from calls
  /// that the compiler takes for harmless; what the thread has on its stack is not destroyed.
  [[noreturn]] void stop_thread(std::string why, const char* suggestion);

 private:
  struct abandoned {};  // thrown through the threads of a block that cannot go on

  struct thread_record {
    fiber* on = nullptr;  // null before its first step and after its last
    uint3 index{};
    const void* barrier = nullptr;  // where it reached the last one
  };

  // A shuffle in progress. Values of two rounds: a lane may enter the next shuffle before all have left this one.
  struct warp_record {
    std::uint64_t values[2][warp_lanes];
    unsigned lanes, arrived, round;
  };

  // block_runner.cpp: the way of threads that go well
  static void fiber_main();
  void run_thread();
  bool next_thread(fiber& self);
  void wait();
  void become(unsigned thread);
  fiber* idle_fiber();
  void compare_barriers();
  void reserve_shared(std::size_t bytes);

  // block_fault.cpp: the way of those that do not
  void stuck();
  void thread_threw();
  std::string barrier_text(unsigned thread) const;
  void fault(std::string why, const char* suggestion);
  [[noreturn]] void throw_fault() const;

  stack_pool stacks_;
  std::unique_ptr<fiber[]> fibers_;
  unsigned fibers_made_ = 0;
  std::vector<fiber*> idle_;
  std::vector<fiber*> spent_;  // left in the middle of a thread, by stop_thread
  fiber home_;                 // the OS thread, while it is in `run`
  fiber* active_ = nullptr;
  bool quitting_ = false;

  const grid_launch* launch_ = nullptr;
  unsigned threads_ = 0;  // of a block
  access_histories histories_;
  std::unique_ptr<access_observer> observer_;
  thread_order order_;
  std::unique_ptr<char, void (*)(char*)> shared_;
  std::size_t shared_capacity_ = 0;

  // The block that is running
  std::unique_ptr<thread_record[]> records_;
  std::unique_ptr<warp_record[]> warps_;
  ready_queue ready_;
  unsigned at_barrier_ = 0, finished_ = 0;
  bool abandoned_ = false;
  std::string why_;
  const char* suggestion_ = "";
};

}  // namespace twill::simt
