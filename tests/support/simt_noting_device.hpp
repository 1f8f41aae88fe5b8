#pragma once

// A simulated device that runs nothing, and records what it was asked to run.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <twill/twill.hpp>

#include "backends/simt/kernel_name.hpp"
#include "backends/simt/simt_device.hpp"
#include "support/moving_calls.hpp"

namespace twill::simt {
extern detail::operation_table operations;
}

namespace support {

using kernel_set = std::set<std::string>;

/// A simulated device of any size that only notes which kernels it should run.
class noting_device : public twill::simt::simt_device {
 public:
  explicit noting_device(twill::device_properties properties) : simt_device(std::move(properties), {}, {}, 1) {
    operations = &twill::simt::operations;
  }

  void launch(void*, const twill::detail::launch_config& config, const twill::simt::kernel_call& kernel) override {
    launched_.insert(kernel.address);
    ++launches_;
    blocks_ += std::uint64_t{config.grid.x} * config.grid.y;
  }
  void copy(void*, void*, const void*, std::size_t, twill::detail::copy_direction) override { ++launches_; }
  void copy_rows(void*, const twill::detail::pitched_rows&, twill::detail::copy_direction) override {}

  kernel_set take_names() {
    kernel_set names;
    for (const void* address : launched_) names.insert(twill::simt::kernel_name(address));
    launched_.clear();
    return names;
  }
  /// Of kernels and copies.
  int launches() const { return launches_; }
  std::uint64_t blocks() const { return blocks_; }

 private:
  std::set<const void*> launched_;
  int launches_ = 0;
  std::uint64_t blocks_ = 0;
};

/// What a device would run for a call; no memory is there to be touched.
inline kernel_set chosen_for(noting_device& device, twill::stream_ref stream, const drawn_call& call) {
  const auto at = [](std::uintptr_t gibibytes, std::size_t offset) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, never followed.
    return reinterpret_cast<unsigned char*>((gibibytes << 40) + offset);
  };
  call.run(stream, at(1, call.in_offset), at(2, call.out_offset), at(3, call.scratch_offset));
  return device.take_names();
}

struct noting_stream {
  std::shared_ptr<noting_device> noting;
  twill::device device;
  twill::stream stream;
};
inline noting_stream noting_h200() {
  auto noting = std::make_shared<noting_device>(twill::device::open("simt:h200").properties());
  twill::device device(noting);
  twill::stream stream(device);
  return {noting, std::move(device), std::move(stream)};
}

}  // namespace support
