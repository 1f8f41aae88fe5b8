#pragma once

// A device of the CPU or of the simulator whose n-th call fails, whatever call that is, and that counts what it gave.

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include <twill/error.hpp>

#include "backends/cpu/device.hpp"
#include "backends/simt/simt_device.hpp"

namespace support {

/// Calls of a backend, counted from 1. `arm(n)` makes the n-th from now on fail, once.
class fault_counter {
 public:
  void arm(int n) {
    calls_ = faults_ = 0;
    fail_at_ = n;
  }
  void disarm() { arm(0); }

  void call(const char* what, twill::errc code) {
    if (++calls_ != fail_at_) return;
    ++faults_;
    last_ = what;
    throw twill::error(code, std::string(what) + " failed (injected) nothing to be done");
  }

  int calls() const { return calls_; }
  int faults() const { return faults_; }
  const std::string& last() const { return last_; }

 private:
  int calls_ = 0, faults_ = 0, fail_at_ = 0;
  std::string last_;
};

/// `Base` with faults, and with a record of every stream, event and allocation that is not yet given back.
template <class Base>
class faulty_device : public Base {
 public:
  using Base::Base;

  fault_counter faults;

  std::size_t outstanding() const { return memory_.size() + streams_.size() + events_.size(); }
  int wrong_returns() const { return wrong_returns_; }

  void* allocate(std::size_t bytes) override {
    faults.call("allocate", twill::errc::out_of_memory);
    return *memory_.insert(Base::allocate(bytes)).first;
  }
  void release(void* memory) noexcept override {
    give_back(memory_, memory);
    Base::release(memory);
  }
  void* create_stream() override {
    faults.call("create_stream", twill::errc::out_of_memory);
    return *streams_.insert(Base::create_stream()).first;
  }
  void destroy_stream(void* stream) noexcept override {
    give_back(streams_, stream);
    Base::destroy_stream(stream);
  }
  void wait_stream(void* stream) override {
    faults.call("wait_stream", twill::errc::device_fault);
    Base::wait_stream(stream);
  }
  void* create_event() override {
    faults.call("create_event", twill::errc::out_of_memory);
    return *events_.insert(Base::create_event()).first;
  }
  void destroy_event(void* event) noexcept override {
    give_back(events_, event);
    Base::destroy_event(event);
  }
  void record_event(void* event, void* stream) override {
    faults.call("record_event", twill::errc::device_fault);
    Base::record_event(event, stream);
  }
  void wait_event(void* event) override {
    faults.call("wait_event", twill::errc::device_fault);
    Base::wait_event(event);
  }
  void hold_stream(void* stream, void* event) override {
    faults.call("hold_stream", twill::errc::device_fault);
    Base::hold_stream(stream, event);
  }
  double seconds_between(void* start, void* end) override {
    faults.call("seconds_between", twill::errc::device_fault);
    return Base::seconds_between(start, end);
  }
  void copy(void* stream, void* to, const void* from, std::size_t bytes,
            twill::detail::copy_direction direction) override {
    faults.call("copy", twill::errc::device_fault);
    Base::copy(stream, to, from, bytes, direction);
  }
  void copy_rows(void* stream, const twill::detail::pitched_rows& rows,
                 twill::detail::copy_direction direction) override {
    faults.call("copy_rows", twill::errc::device_fault);
    Base::copy_rows(stream, rows, direction);
  }
  void fill(void* stream, void* to, unsigned char value, std::size_t bytes) override {
    faults.call("fill", twill::errc::device_fault);
    Base::fill(stream, to, value, bytes);
  }

 private:
  void give_back(std::set<void*>& given, void* one) noexcept { wrong_returns_ += given.erase(one) == 1 ? 0 : 1; }

  std::set<void*> memory_, streams_, events_;
  int wrong_returns_ = 0;
};

using faulty_cpu = faulty_device<twill::cpu::device>;

class faulty_simt : public faulty_device<twill::simt::simt_device> {
 public:
  using faulty_device::faulty_device;

  void launch(void* stream, const twill::detail::launch_config& config,
              const twill::simt::kernel_call& kernel) override {
    faults.call("launch", twill::errc::launch_failed);
    faulty_device::launch(stream, config, kernel);
  }
};

}  // namespace support
