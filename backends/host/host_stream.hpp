#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace twill::host {

/// A stream whose work is done when it is given: all that it holds is the first fault since the last wait.
class host_stream {
 public:
  void hold_fault(std::exception_ptr fault) noexcept {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(fault);
  }

  bool has_fault() const noexcept {
    const std::lock_guard lock(mutex_);
    return fault_ != nullptr;
  }

  /// Throws the fault, once.
  void wait() {
    std::exception_ptr fault;
    {
      const std::lock_guard lock(mutex_);
      fault = std::exchange(fault_, nullptr);
    }
    if (fault) std::rethrow_exception(fault);
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr fault_;
};

}  // namespace twill::host
