#pragma once

// Loops that run on several threads: what the devices on the CPU do their work with.

#include <cstddef>
#include <memory>
#include <type_traits>

#include "worker_pool.hpp"

namespace twill::host {

/// How many threads of the process a device uses. The threads themselves are the pool's, which all devices share; the
/// first loop that needs them starts them.
class thread_team {
 public:
  explicit thread_team(int threads) : size_(threads) {}

  int size() const noexcept { return size_; }

  /// Calls f(i) for each i in [0, count) on the calling thread and up to size() - 1 workers, ascending but at the same
  /// time; returns when all are done. A single index costs a call; waking workers costs about 10 us.
  /// Order: calls from several threads run side by side. f may call `run`.
  /// Throws: the first exception that left f, the indices not yet begun are then left out; out_of_memory when the
  /// system has no more threads.
  template <class F>
  void run(std::size_t count, F&& f) const {
    if (count <= 1 || size_ == 1) {
      for (std::size_t i = 0; i < count; ++i) f(i);
      return;
    }
    start(count, size_ - 1, f, [](void* call, std::size_t index, int) { (*static_cast<pointee<F>*>(call))(index); });
  }

  /// The same for f(i, worker), on size() workers and never the calling thread; `worker` in [0, size()) is always the
  /// same thread, and in one call of f at a time. f must not call `run_on_workers`.
  template <class F>
  void run_on_workers(std::size_t count, F&& f) const {
    if (count == 0) return;
    start(count, size_, f,
          [](void* call, std::size_t index, int worker) { (*static_cast<pointee<F>*>(call))(index, worker); });
  }

 private:
  template <class F>
  using pointee = std::remove_reference_t<F>;

  template <class F>
  void start(std::size_t count, int workers, F& f, parallel_loop::call_type* call) const {
    auto& pool = worker_pool::of_process();
    pool.reserve(workers);
    parallel_loop loop(count, workers, const_cast<void*>(static_cast<const void*>(std::addressof(f))), call);
    pool.run(loop, workers < size_);
  }

  int size_;
};

}  // namespace twill::host
