#include "device_model.hpp"

#include <algorithm>

namespace twill::detail {

device_model model_of(const device_properties& device) {
  constexpr double copied = 0.875;  // of the peak, by kernels that copy (H200: 4.2 of 4.8 TB/s)
  constexpr double clock = 1755;    // MHz: what drivers give is not what devices run at
  constexpr double plain = 500e9;   // bytes per second of a device that does not say
  const double peak = device.peak_bytes_per_second > 0 ? device.peak_bytes_per_second : plain;
  const int multiprocessors = std::max(1, device.multiprocessors);
  return {static_cast<std::int64_t>(device.shared_bytes_per_block), multiprocessors, copied * peak / 1e6,
          clock * multiprocessors};
}

}  // namespace twill::detail
