// CUB as a rung: sums and exclusive sums of four types. Compiled by nvcc where CUB's headers are.

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <limits>
#include <string_view>

#include "backends/error.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "native.hpp"
#include "peers.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reduce_rung_args;
using detail::work_queue;

[[noreturn]] void fail_cub(const char* why, const char* suggestion) {
  detail::fail(errc::unsupported, "cub cannot do this", why, suggestion);
}

/// Calls f with a value of the type that calculates with `type`.
template <class F>
void with_cub_type(element_type type, F&& f) {
  switch (type) {
    case element_type::f32:
      return f(float{});
    case element_type::f64:
      return f(double{});
    case element_type::i32:
    case element_type::u32:
      return f(std::uint32_t{});
    default:
      fail_cub("it is compiled for i32, u32, f32 and f64", "choose one of these with --type");
  }
}

/// `run` follows CUB's protocol: without scratch it returns the size it needs. CUB launches on the current device.
template <class Run>
void run_with_scratch(const work_queue& queue, const reduce_rung_args& a, Run&& run) {
  if (a.count > std::numeric_limits<int>::max()) fail_cub("its older releases count in 32 bits", "use a shorter array");
  const device_guard guard(static_cast<gpu_device*>(queue.device)->ordinal());
  std::size_t needed = 0;
  if (run(nullptr, needed) != 0 || needed > a.scratch_bytes) fail_cub("its scratch does not fit", "leave it out");
  for (int i = 0; i < a.repeats; ++i) {
    if (run(a.scratch, needed) != 0) {
      detail::fail(errc::launch_failed, "cub failed", "its launch returned an error", "leave this rung out");
    }
  }
}

void run_sum(const work_queue& queue, const reduce_rung_args& a) {
  with_cub_type(a.type, [&](auto number) {
    using T = decltype(number);
    const auto stream = static_cast<native_stream>(queue.native);
    run_with_scratch(queue, a, [&](void* scratch, std::size_t& bytes) {
      return static_cast<int>(
          cub::DeviceReduce::Sum(scratch, bytes, static_cast<const T*>(a.in), static_cast<T*>(a.out), a.count, stream));
    });
  });
}

void run_scan(const work_queue& queue, const reduce_rung_args& a) {
  with_cub_type(a.type, [&](auto number) {
    using T = decltype(number);
    const auto stream = static_cast<native_stream>(queue.native);
    run_with_scratch(queue, a, [&](void* scratch, std::size_t& bytes) {
      return static_cast<int>(cub::DeviceScan::ExclusiveSum(scratch, bytes, static_cast<const T*>(a.in),
                                                            static_cast<T*>(a.out), a.count, stream));
    });
  });
}

constexpr std::string_view source = "NVIDIA, CUB";

const detail::reduce_rung_entry sum_rung{
    {"reduce", "cub", "the vendor's templates, their scratch made before", source, rung_promise::result, {}, false},
    nullptr,
    nullptr,
    &run_sum};
const detail::array_rung_entry scan_rung{
    {"scan", "cub", "the vendor's templates, their scratch made before", source, rung_promise::result, {}, false},
    nullptr,
    nullptr,
    &run_scan};

}  // namespace

detail::table_view<detail::reduce_rung_entry> peer_reductions() {
  return {&sum_rung, 1};
}
detail::table_view<detail::array_rung_entry> peer_scans() {
  return {&scan_rung, 1};
}

}  // namespace twill::TWILL_BACKEND
