// What a block does when it cannot go on.

#include <exception>

#include "backends/error.hpp"
#include "block_runner.hpp"
#include "kernel_name.hpp"

namespace twill::simt {
namespace {

std::string text(uint3 at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

std::string part(unsigned some, unsigned all, const char* of) {
  return std::to_string(some) + " of " + std::to_string(all) + of;
}

}  // namespace

// No thread can run and not all have ended: they wait for one that will not come.
void block_runner::stuck() {
  if (at_barrier_ > 0) {
    unsigned waiting = 0;
    while (records_[waiting].barrier == nullptr || records_[waiting].on == nullptr) ++waiting;
    return fault(part(at_barrier_, threads_, " threads reached a barrier, ") + std::to_string(finished_) +
                     " returned; " + barrier_text(waiting),
                 "let all threads of a block reach each __syncthreads()");
  }
  for (unsigned w = 0; w * warp_lanes < threads_; ++w) {
    if (warps_[w].arrived == 0) continue;
    return fault(part(warps_[w].arrived, warps_[w].lanes, " lanes of warp ") + std::to_string(w) + " reached a shuffle",
                 "let all lanes of a warp take part in each shuffle");
  }
}

// "thread (0,0,0) waits at scan.hpp:41"
std::string block_runner::barrier_text(unsigned thread) const {
  const auto place = launch_->lines->of_call(records_[thread].barrier);
  return "thread " + text(records_[thread].index) + " waits at " + short_text(place);
}

// Called where all threads have reached a barrier: whether it is one on the same line. (At the same place in the code
// is too much to ask, for compilers make several of one.)
void block_runner::compare_barriers() {
  const void* const first = records_[0].barrier;
  for (unsigned t = 1; t < threads_; ++t) {
    if (records_[t].barrier == first) continue;
    const auto here = launch_->lines->of_call(first), there = launch_->lines->of_call(records_[t].barrier);
    if (here.file == there.file && here.line == there.line) continue;
    stop_thread("threads wait at different barriers: " + barrier_text(0) + ", " + barrier_text(t),
                "let all threads of a block reach the same __syncthreads()");
  }
}

// Called where what left a kernel is caught.
void block_runner::thread_threw() {
  records_[running.thread].on = nullptr;  // it has unwound already
  const std::string who = "thread " + text(threadIdx) + " threw";
  const char* const advice = "report what goes wrong through memory";
  try {
    throw;
  } catch (const abandoned&) {
    return;
  } catch (const std::exception& e) {
    fault(who + ": " + e.what(), advice);
  } catch (...) {
    fault(who + " something that is no std::exception", advice);
  }
}

// Keeps the first fault, and lets the suspended threads run once more, to unwind. Those not begun never begin.
void block_runner::fault(std::string why, const char* suggestion) {
  if (!abandoned_) {
    why_ = std::move(why);
    suggestion_ = suggestion;
  }
  abandoned_ = true;
  at_barrier_ = 0;
  for (unsigned w = 0; w * warp_lanes < threads_; ++w) warps_[w].arrived = 0;
  ready_.clear();
  for (unsigned t = 0; t < threads_; ++t) {
    if (records_[t].on != nullptr) ready_.push(t);
  }
}

void block_runner::throw_fault() const {
  detail::fail(errc::device_fault,
               "kernel " + kernel_name(launch_->kernel.address) + " failed in block " + text(blockIdx), why_,
               suggestion_);
}

}  // namespace twill::simt
