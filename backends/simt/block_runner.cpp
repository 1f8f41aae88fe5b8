#include "block_runner.hpp"

#include <new>
#include <utility>

namespace twill::simt {

__thread running_thread running;

// What kernels see as threadIdx and its kin.
TWILL_API extern __thread uint3 thread_index __asm__("twill_simt_threadIdx");
TWILL_API extern __thread uint3 block_index __asm__("twill_simt_blockIdx");
TWILL_API extern __thread dim3 block_extents __asm__("twill_simt_blockDim");
TWILL_API extern __thread dim3 grid_extents __asm__("twill_simt_gridDim");
__thread uint3 thread_index;
__thread uint3 block_index;
__thread dim3 block_extents;
__thread dim3 grid_extents;

namespace {

constexpr std::align_val_t shared_alignment{256};

void free_shared(char* memory) {
  ::operator delete(memory, shared_alignment);
}

// The place of number `index` in a box of extents `of`, x fastest.
uint3 place(std::uint64_t index, const detail::extent3& of) {
  const std::uint64_t rest = index / of.x;
  return {static_cast<unsigned>(index % of.x), static_cast<unsigned>(rest % of.y), static_cast<unsigned>(rest / of.y)};
}

}  // namespace

block_runner::block_runner(bool guarded)
    : stacks_(max_threads, guarded),
      fibers_(new fiber[max_threads]),
      shared_(nullptr, &free_shared),
      records_(new thread_record[max_threads]),
      warps_(new warp_record[max_threads / warp_lanes]) {
  idle_.reserve(max_threads);
}

block_runner::~block_runner() {
  quitting_ = true;
  for (fiber* f : idle_) home_.resume(*f);
  reserve_shared(shared_capacity_);
}

void block_runner::begin(const grid_launch& launch) {
  launch_ = &launch;
  const auto& block = launch.config.block;
  threads_ = block.x * block.y * block.z;
  order_.begin_launch(launch.order);
  for (unsigned t = 0; t < threads_; ++t) records_[t].index = place(t, block);
  for (unsigned w = 0; w * warp_lanes < threads_; ++w) {
    warps_[w].lanes = std::min(warp_lanes, threads_ - w * warp_lanes);
    warps_[w].arrived = warps_[w].round = 0;
  }
  reserve_shared(launch.config.shared_bytes);
  observer_.reset();
  if (launch.observer != nullptr) {
    const byte_range stacks{reinterpret_cast<std::uintptr_t>(stacks_.begin()), stacks_.bytes()};
    observer_ = std::make_unique<access_observer>(*launch.observer, launch_->kernel, block, stacks, histories_);
  }
}

// Makes exactly `bytes` of dynamic shared memory accessible, as far as the address sanitizer can see to it.
void block_runner::reserve_shared(std::size_t bytes) {
  if (bytes > shared_capacity_) {
    shared_.reset(static_cast<char*>(::operator new(bytes, shared_alignment)));
    shared_capacity_ = bytes;
  }
#ifdef TWILL_SIMT_ASAN
  __asan_unpoison_memory_region(shared_.get(), shared_capacity_);
  __asan_poison_memory_region(shared_.get() + bytes, shared_capacity_ - bytes);
#endif
}

void block_runner::run(std::uint64_t block) {
  const auto& config = launch_->config;
  block_index = place(block, config.grid);
  block_extents = {config.block.x, config.block.y, config.block.z};
  grid_extents = {config.grid.x, config.grid.y, config.grid.z};
  running = {this, 0, 0, block, shared_.get(), config.shared_bytes, nullptr};
  if (observer_ != nullptr) {
    observer_->begin_block(block);
    running.observer = observer_.get();
  }
  finished_ = at_barrier_ = 0;
  abandoned_ = false;
  ready_.clear();
  order_.begin_block(block);
  order_.push(ready_, 0, threads_);

  active_ = idle_fiber();
  const unsigned first = ready_.pop();
  records_[first].on = active_;
  become(first);
  home_.resume(*active_);
  if (std::exchange(running.observer, nullptr) != nullptr && !abandoned_) observer_->end_interval();
  running = {};
  if (abandoned_) throw_fault();
}

[[gnu::always_inline]] inline void block_runner::become(unsigned thread) {
  thread_index = records_[thread].index;
  running.thread = thread;
}

// Yields to the other threads until this one is scheduled again.
[[gnu::always_inline]] inline void block_runner::wait() {
  const unsigned self = running.thread;
  if (ready_.empty()) stuck();
  const unsigned next = ready_.pop();
  if (next != self) {
    thread_record& record = records_[next];
    if (record.on == nullptr) record.on = idle_fiber();
    become(next);
    active_ = record.on;
    records_[self].on->resume(*record.on);
  }
  if (abandoned_) throw abandoned{};
}

[[gnu::always_inline]] inline void block_runner::barrier(const void* place) {
  if (running.observer != nullptr) running.observer->step(place);
  records_[running.thread].barrier = place;
  if (++at_barrier_ == threads_) {
    at_barrier_ = 0;
    if (access_observer* const observer = running.observer; observer != nullptr && observer->observes()) {
      running.observer = nullptr;  // a standard function may be linked from a source whose accesses are hooked
      compare_barriers();
      observer->end_interval();
      running.observer = observer;
    }
    ++running.interval;
    order_.push(ready_, 0, threads_);
  }
  wait();
}

[[gnu::always_inline]] inline std::uint64_t block_runner::exchange(std::uint64_t bits, unsigned source,
                                                                   const void* place) {
  if (running.observer != nullptr) running.observer->step(place);
  const unsigned warp = running.thread / warp_lanes;
  warp_record& w = warps_[warp];
  const unsigned round = w.round;
  records_[running.thread].barrier = nullptr;
  w.values[round][running.thread % warp_lanes] = bits;
  if (++w.arrived == w.lanes) {
    w.arrived = 0;
    w.round = 1 - round;
    order_.push(ready_, warp * warp_lanes, w.lanes);
  }
  wait();
  return source < w.lanes ? w.values[round][source] : bits;
}

void block_runner::stop_thread(std::string why, const char* suggestion) {
  running.observer = nullptr;
  fiber& self = *records_[running.thread].on;
  records_[running.thread].on = nullptr;
  ++finished_;
  spent_.push_back(&self);
  fault(std::move(why), suggestion);
  active_ = &home_;
  if (!ready_.empty()) {
    become(ready_.pop());
    active_ = records_[running.thread].on;
  }
  self.leave(*active_);
}

fiber* block_runner::idle_fiber() {
  if (idle_.empty()) {
    const bool is_new = spent_.empty();
    const auto n = is_new ? fibers_made_++ : static_cast<unsigned>(spent_.back() - fibers_.get());
    if (!is_new) spent_.pop_back();
    fibers_[n].start_on(stacks_.low(n), stacks_.top(n), &fiber_main);
    return &fibers_[n];
  }
  fiber* f = idle_.back();
  idle_.pop_back();
  return f;
}

[[gnu::always_inline]] inline void block_runner::run_thread() {
  try {
    launch_->kernel.invoke(launch_->kernel.bound);
  } catch (...) {
    thread_threw();
  }
}

// After a thread has ended on `self`: true when another one shall begin on it, false when the runner goes away.
// A thread that has not begun takes over this fiber, so a kernel without barriers needs no switch at all.
[[gnu::always_inline]] inline bool block_runner::next_thread(fiber& self) {
  records_[running.thread].on = nullptr;
  ++finished_;
  if (ready_.empty() && finished_ < threads_ && !abandoned_) stuck();
  active_ = &home_;
  if (!ready_.empty()) {
    const unsigned next = ready_.pop();
    become(next);
    thread_record& record = records_[next];
    if (record.on == nullptr) {
      record.on = active_ = &self;
      return true;
    }
    active_ = record.on;
  }
  idle_.push_back(&self);
  self.resume(*active_);
  return !quitting_;
}

void block_runner::fiber_main() {
  block_runner& runner = *running.runner;
  fiber& self = *runner.active_;
  self.arrive();
  do {
    runner.run_thread();
  } while (runner.next_thread(self));
  self.leave(runner.home_);
}

void block_barrier() {
  running.runner->barrier(__builtin_return_address(0));
}

std::uint64_t warp_exchange(std::uint64_t bits, unsigned source) {
  return running.runner->exchange(bits, source, __builtin_return_address(0));
}

}  // namespace twill::simt
