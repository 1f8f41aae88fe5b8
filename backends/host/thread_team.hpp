#pragma once

// A fixed team of OS threads: what the devices on the CPU run their work on.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace twill::host {

/// Threads for a device: TWILL_THREADS, or one for each processor that this process may use.
/// Throws: invalid_argument when TWILL_THREADS is not a whole number from 1 to 1024.
int default_thread_count();

class thread_team {
 public:
  /// Throws: out_of_memory when the system has no more threads.
  explicit thread_team(int threads);
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  int size() const noexcept { return static_cast<int>(threads_.size()); }

  /// Calls f(i), or f(i, member), for each i in [0, count) on the threads of the team, ascending but at the same time;
  /// returns when all are done. `member` in [0, size()) is always the same OS thread, never the caller. Waking the team
  /// costs about 10 us.
  /// Order: calls of `run` from several threads are done one after another. f must not call `run` of its own team.
  /// Throws: the first exception that left f; the indices not yet begun are then left out.
  template <class F>
  void run(std::size_t count, F&& f) {
    using function = std::remove_reference_t<F>;
    run_job({count, const_cast<void*>(static_cast<const void*>(&f)), [](void* f, std::size_t index, int member) {
               if constexpr (std::is_invocable_v<function&, std::size_t, int>) {
                 (*static_cast<function*>(f))(index, member);
               } else {
                 (*static_cast<function*>(f))(index);
               }
             }});
  }

 private:
  struct job {
    std::size_t count;
    void* function;
    void (*call)(void* function, std::size_t index, int member);
  };

  void run_job(const job& work);
  void member_main(int member);
  void work_on(const job& work, int member) noexcept;
  void stop() noexcept;

  std::mutex one_job_;  // held by the caller whose job it is

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  job job_{};
  std::size_t wanted_ = 0;  // members that may still join the job
  int at_work_ = 0;
  bool stopping_ = false;
  std::exception_ptr thrown_;

  std::atomic<std::size_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace twill::host
