#pragma once

// The worker threads of this process: one pool, whatever the number of devices that are open.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace twill::host {

/// A loop whose indices are handed out to threads; it lives on the stack of the thread that runs it.
struct parallel_loop {
  using call_type = void(void* function, std::size_t index, int worker);

  /// The workers numbered [0, workers) may join.
  parallel_loop(std::size_t indices, int joining, void* f, call_type* call_f)
      : count(indices), workers(joining), function(f), call(call_f) {}

  const std::size_t count;
  const int workers;
  void* const function;
  call_type* const call;

  std::atomic<std::size_t> next{0};

  // Guarded by the pool's mutex.
  int joined = 0;
  std::exception_ptr thrown;
  std::condition_variable all_left;
  parallel_loop* following = nullptr;

  bool has_more() const noexcept { return next.load(std::memory_order_relaxed) < count; }
};

/// Detached threads that sleep until a loop has indices left. They are never joined: they end with the process.
class worker_pool {
 public:
  /// The pool of this process. The child of a fork() has none of its parent's threads: it gets a new pool.
  static worker_pool& of_process();

  /// Starts threads until there are `workers`. Throws: out_of_memory when the system has no more threads.
  void reserve(int workers);

  /// Calls loop.call for each index, on workers and, as number -1, on the calling thread if that `joins`. Loops of
  /// several callers run at the same time; a worker that has nothing left to do in one goes on to the next.
  /// Throws: the first exception that left a call; the indices not yet begun are then left out.
  void run(parallel_loop& loop, bool joins);

  /// Memory of `buffer_bytes`, at a multiple of 256. Throws: std::bad_alloc.
  unsigned char* borrow_buffer();
  void return_buffer(unsigned char* buffer) noexcept;
  static constexpr std::size_t buffer_bytes = std::size_t{128} << 10;

 private:
  worker_pool() = default;
  ~worker_pool() = default;

  static void begin_child() noexcept;
  void start_worker();
  void worker_main(int worker);
  parallel_loop* loop_for(int worker) const noexcept;
  void take_indices(parallel_loop& loop, int worker) noexcept;
  void add(parallel_loop& loop);
  void remove(parallel_loop& loop) noexcept;

  static std::atomic<worker_pool*> current_;
  static std::atomic<worker_pool*> of_parent_;
  worker_pool* const parent_ = of_parent_.load();  // keeps it reachable

  std::atomic<int> workers_{0};
  std::mutex starting_;

  std::mutex mutex_;
  std::condition_variable begin_;
  parallel_loop* loops_ = nullptr;  // that may have indices left, the oldest first

  std::mutex buffers_mutex_;
  std::vector<unsigned char*> buffers_;  // not in use
};

/// A task's working memory. It is not on the stack: threads of some C libraries have 128 KiB of that.
class work_buffer {
 public:
  static constexpr std::size_t bytes = worker_pool::buffer_bytes;

  work_buffer() : pool_(worker_pool::of_process()), data_(pool_.borrow_buffer()) {}
  ~work_buffer() { pool_.return_buffer(data_); }
  work_buffer(const work_buffer&) = delete;
  work_buffer& operator=(const work_buffer&) = delete;

  unsigned char* data() noexcept { return data_; }

 private:
  worker_pool& pool_;
  unsigned char* data_;
};

}  // namespace twill::host
