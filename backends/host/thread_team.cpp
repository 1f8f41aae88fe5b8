#include "thread_team.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "backends/error.hpp"

namespace twill::host {

int default_thread_count() {
  const char* const asked = std::getenv("TWILL_THREADS");
  if (asked == nullptr) return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::string_view text(asked);
  int count = 0;
  const auto read = std::from_chars(text.begin(), text.end(), count);
  detail::require(read.ec == std::errc() && read.ptr == text.end() && count >= 1 && count <= 1024,
                  "TWILL_THREADS is \"" + std::string(text) + "\"", "it must be a whole number from 1 to 1024",
                  "set it to one, or unset it for all processors");
  return count;
}

thread_team::thread_team(int threads) {
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int member = 0; member < threads; ++member) threads_.emplace_back([this, member] { member_main(member); });
  } catch (const std::system_error& e) {
    stop();
    detail::fail(errc::out_of_memory, "no team of " + std::to_string(threads) + " threads", e.what(),
                 "let TWILL_THREADS name fewer");
  }
}

thread_team::~thread_team() {
  stop();
}

void thread_team::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void thread_team::run_job(const job& work) {
  if (work.count == 0) return;
  const std::lock_guard my_turn(one_job_);
  std::unique_lock lock(mutex_);
  job_ = work;
  next_.store(0, std::memory_order_relaxed);
  wanted_ = std::min(work.count, threads_.size());
  if (wanted_ == 1) {
    begin_.notify_one();
  } else {
    begin_.notify_all();
  }
  // Done when all indices are taken and nobody is at work; members that never woke up in time are not waited for.
  end_.wait(lock, [&] { return at_work_ == 0 && next_.load(std::memory_order_relaxed) >= work.count; });
  wanted_ = 0;
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void thread_team::member_main(int member) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stopping_ || wanted_ > 0; });
    if (stopping_) return;
    --wanted_;
    ++at_work_;
    const job work = job_;
    lock.unlock();
    work_on(work, member);
    lock.lock();
    if (--at_work_ == 0) end_.notify_one();
  }
}

void thread_team::work_on(const job& work, int member) noexcept {
  try {
    for (;;) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= work.count) return;
      work.call(work.function, index, member);
    }
  } catch (...) {
    next_.store(work.count, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!thrown_) thrown_ = std::current_exception();
  }
}

}  // namespace twill::host
