#include "access_observer.hpp"

#include <algorithm>
#include <utility>

#include "block_runner.hpp"
#include "uninitialised_reads.hpp"

namespace twill::simt {

access_observer::access_observer(const launch_observer& launch, const kernel_call& kernel, detail::extent3 block,
                                 byte_range stacks, access_histories& histories)
    : launch_(launch), kernel_(kernel), threads_(block.x * block.y * block.z), stacks_(stacks), steps_(threads_) {
  if (launch.record != nullptr) recorder_.emplace(*launch.record);
  if (launch.checks) checker_.emplace(*launch.memory, *launch.given, *launch.lines, block, histories);
}

void access_observer::begin_block(std::uint64_t block) {
  recording_ = recorder_ && launch_.record->takes(block);
  std::fill(steps_.begin(), steps_.end(), 0);
  has_waited_.assign(threads_, !launch_.dependent);
  if (!observes()) return;
  dynamic_shared_ = {reinterpret_cast<std::uintptr_t>(running.shared), running.shared_bytes};
  static_shared_ = thread_locals_of(kernel_.address);
  if (recording_) recorder_->begin_block(block, threads_);
  if (checker_) checker_->begin_block(dynamic_shared_, static_shared_);
}

// Memory that a kernel has for itself: its variables, its arguments, and who it is.
bool access_observer::is_private(std::uintptr_t at) const {
  const byte_range own{reinterpret_cast<std::uintptr_t>(&running), sizeof running};
  const byte_range arguments{reinterpret_cast<std::uintptr_t>(kernel_.bound), kernel_.bound_bytes};
  return stacks_.holds(at) || own.holds(at) || arguments.holds(at);
}

// What these two call of the standard library may be the copies of a kernel's source, which report their accesses: not
// to an observer at work.

void access_observer::step(const void* place) {
  access_observer* const reported_to = running.observer;
  running.observer = nullptr;
  if (++steps_[running.thread] <= launch_.step_limit) {
    running.observer = reported_to;
    return;
  }
  auto why = "thread " + std::to_string(running.thread) + " has taken " + std::to_string(launch_.step_limit) +
             " steps, and is now at " + short_text(launch_.lines->of_call(place));
  running.runner->stop_thread(std::move(why), "see whether its loop can end; set_step_limit allows more");
}

void access_observer::access(std::uintptr_t at, std::size_t bytes, std::size_t alignment, access_kind kind,
                             const void* place) {
  step(place);
  if (!observes() || is_private(at)) return;
  running.observer = nullptr;
  const checked_access access{at, bytes, alignment, kind, place, running.thread};
  access_fault fault;
  if (dynamic_shared_.holds(at)) {
    if (checker_) fault = checker_->check_shared(access);
    record(memory_space::shared, at - dynamic_shared_.base, bytes, kind, place);
  } else if (static_shared_.holds(at)) {
    if (checker_) fault = checker_->check_shared(access);
    // What the variables are aligned to, banks are to see: the base need not be.
    const std::uintptr_t base = static_shared_.base / 256 * 256;
    record(memory_space::shared, warp_access::static_shared + (at - base), bytes, kind, place);
  } else if (const auto* range = launch_.memory->find(at)) {
    if (checker_) fault = check_global(access, *range);
    record(memory_space::global, range->device_address + (at - range->base), bytes, kind, place);
  } else if (checker_) {
    fault = checker_->check_unmapped(access);
  }
  if (!fault.why.empty()) running.runner->stop_thread(std::move(fault.why), fault.suggestion);
  running.observer = this;
}

// Of one launch, then against those of other streams.
access_fault access_observer::check_global(const checked_access& access, const memory_map::range& range) {
  if (auto fault = checker_->check_global(access, range); !fault.why.empty()) return fault;
  if (!has_waited_[running.thread]) {
    return {checker_->text(access) + ", which the preceding kernel in the stream may still be " +
                (writes(access.kind) ? "using" : "writing"),
            "call wait_for_previous_kernel() before the first access to global memory in a dependent launch"};
  }
  if (launch_.order == nullptr || range.bytes > stream_order::most_bytes) return {};
  const auto other = launch_.order->touch(launch_.stream, access.at, access.bytes, access.kind);
  if (!other) return {};
  return {"race between streams: " + checker_->text(access) + ", which " + text_of(*other) + " in another stream",
          unordered_advice};
}

void access_observer::wait_for_previous_kernel() {
  has_waited_[running.thread] = true;
}

void access_observer::release(const void* word) const {
  if (launch_.order != nullptr) launch_.order->release(launch_.stream, word);
}

void access_observer::acquire(const void* word) const {
  if (launch_.order != nullptr) launch_.order->acquire(launch_.stream, word);
}

// A copy of an object comes as one access of any size; no GPU moves more than 16 bytes at once.
void access_observer::record(memory_space space, std::uint64_t address, std::size_t bytes, access_kind kind,
                             const void* place) {
  while (recording_ && bytes > 0) {
    std::size_t part = 16;
    while (part > bytes || address % part != 0) part /= 2;
    if (bytes <= 16 && (bytes & (bytes - 1)) == 0) part = bytes;
    recorder_->add(running.thread, space, address, part, kind, place);
    address += part;
    bytes -= part;
  }
}

void access_observer::allow_uninitialised_reads() {
  if (checker_) checker_->allow_uninitialised_reads();
}

void allow_uninitialised_reads() {
  if (running.observer != nullptr) running.observer->allow_uninitialised_reads();
}

void wait_for_previous_kernel() {
  if (running.observer != nullptr) running.observer->wait_for_previous_kernel();
}

void access_observer::end_interval() {
  if (recording_) recorder_->end_interval(running.interval);
  if (checker_) checker_->end_interval();
}

}  // namespace twill::simt
