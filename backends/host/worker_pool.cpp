#include "worker_pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "backends/error.hpp"

namespace twill::host {
namespace {

constexpr std::align_val_t buffer_alignment{256};

// While it lives, threads that this one starts take no signal of the application's; faults of their own stay theirs.
class without_signals {
 public:
  without_signals() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::atomic<worker_pool*> worker_pool::current_{nullptr};
std::atomic<worker_pool*> worker_pool::of_parent_{nullptr};

// Never destroyed: calls work in destructors of static objects too, and threads that sleep need nobody to end them.
worker_pool& worker_pool::of_process() {
  if (worker_pool* pool = current_.load(std::memory_order_acquire)) return *pool;
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &begin_child);
  auto* const made = new worker_pool;
  worker_pool* before = nullptr;
  if (current_.compare_exchange_strong(before, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *before;
}

// In the child of a fork(), where only the calling thread is left and mutexes may be held by the others.
void worker_pool::begin_child() noexcept {
  if (worker_pool* const pool = current_.exchange(nullptr)) of_parent_.store(pool);
}

void worker_pool::reserve(int workers) {
  if (workers_.load(std::memory_order_relaxed) >= workers) return;
  const std::lock_guard lock(starting_);
  const without_signals here;
  while (workers_.load(std::memory_order_relaxed) < workers) {
    try {
      start_worker();
    } catch (const std::system_error& e) {
      detail::fail(errc::out_of_memory, "no team of " + std::to_string(workers) + " threads", e.what(),
                   "let TWILL_THREADS name fewer");
    }
  }
}

void worker_pool::start_worker() {
  const int worker = workers_.load(std::memory_order_relaxed);
  std::thread started([this, worker] { worker_main(worker); });
  pthread_setname_np(started.native_handle(), ("twill " + std::to_string(worker)).c_str());
  started.detach();
  workers_.store(worker + 1, std::memory_order_relaxed);
}

void worker_pool::add(parallel_loop& loop) {
  {
    const std::lock_guard lock(mutex_);
    parallel_loop** end = &loops_;
    while (*end != nullptr) end = &(*end)->following;
    *end = &loop;
  }
  const auto others = static_cast<int>(std::min<std::size_t>(loop.count, static_cast<std::size_t>(loop.workers)));
  // Who wakes up is not chosen: one that may not join would leave the loop to nobody.
  if (loop.workers < workers_.load(std::memory_order_relaxed) || others == loop.workers) {
    begin_.notify_all();
  } else {
    for (int i = 0; i < others; ++i) begin_.notify_one();
  }
}

void worker_pool::remove(parallel_loop& loop) noexcept {
  for (parallel_loop** at = &loops_; *at != nullptr; at = &(*at)->following) {
    if (*at != &loop) continue;
    *at = loop.following;
    return;
  }
}

void worker_pool::run(parallel_loop& loop, bool joins) {
  add(loop);
  if (joins) take_indices(loop, -1);
  std::unique_lock lock(mutex_);
  loop.all_left.wait(lock, [&] { return loop.joined == 0 && !loop.has_more(); });
  remove(loop);
  if (loop.thrown) std::rethrow_exception(std::exchange(loop.thrown, nullptr));
}

parallel_loop* worker_pool::loop_for(int worker) const noexcept {
  parallel_loop* loop = loops_;
  while (loop != nullptr && (worker >= loop->workers || !loop->has_more())) loop = loop->following;
  return loop;
}

void worker_pool::worker_main(int worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    parallel_loop* loop = nullptr;
    begin_.wait(lock, [&] { return (loop = loop_for(worker)) != nullptr; });
    ++loop->joined;
    lock.unlock();
    take_indices(*loop, worker);
    lock.lock();
    // Under the lock: the loop is gone as soon as its caller can look.
    if (--loop->joined == 0) loop->all_left.notify_one();
  }
}

void worker_pool::take_indices(parallel_loop& loop, int worker) noexcept {
  try {
    for (;;) {
      const std::size_t index = loop.next.fetch_add(1, std::memory_order_relaxed);
      if (index >= loop.count) return;
      loop.call(loop.function, index, worker);
    }
  } catch (...) {
    loop.next.store(loop.count, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!loop.thrown) loop.thrown = std::current_exception();
  }
}

unsigned char* worker_pool::borrow_buffer() {
  {
    const std::lock_guard lock(buffers_mutex_);
    if (!buffers_.empty()) {
      unsigned char* const buffer = buffers_.back();
      buffers_.pop_back();
      return buffer;
    }
  }
  return static_cast<unsigned char*>(::operator new(buffer_bytes, buffer_alignment));
}

void worker_pool::return_buffer(unsigned char* buffer) noexcept {
  const std::lock_guard lock(buffers_mutex_);
  try {
    buffers_.push_back(buffer);
  } catch (const std::bad_alloc&) {
    ::operator delete(buffer, buffer_alignment);
  }
}

}  // namespace twill::host
