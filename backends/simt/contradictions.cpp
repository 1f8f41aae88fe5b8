#include "contradictions.hpp"

#include <cstdint>

namespace twill::simt {
namespace {

// A block fits a multiprocessor, a warp a block, and each thread has a register.
struct order {
  const char* greater;
  std::uint64_t datasheet::* greater_value;
  const char* lesser;
  std::uint64_t datasheet::* lesser_value;
};
constexpr order orders[] = {
    {"max_threads_per_block", &datasheet::max_threads_per_block, "warp_size", &datasheet::warp_size},
    {"max_threads_per_multiprocessor", &datasheet::max_threads_per_multiprocessor, "max_threads_per_block",
     &datasheet::max_threads_per_block},
    {"registers_per_multiprocessor", &datasheet::registers_per_multiprocessor, "max_threads_per_multiprocessor",
     &datasheet::max_threads_per_multiprocessor},
    {"shared_bytes_per_multiprocessor", &datasheet::shared_bytes_per_multiprocessor, "shared_bytes_per_block",
     &datasheet::shared_bytes_per_block},
};

std::string wrong_order(const datasheet& sheet) {
  for (const auto& each : orders) {
    const std::uint64_t greater = sheet.*each.greater_value, lesser = sheet.*each.lesser_value;
    if (greater >= lesser) continue;
    return std::string(each.greater) + " is " + std::to_string(greater) + "; it must be at least " + each.lesser +
           ", which is " + std::to_string(lesser);
  }
  return {};
}

// GCN and CDNA have 64 lanes, all others run kernels with 32.
std::string wrong_warp(const datasheet& sheet) {
  const std::uint64_t lanes = sheet.architecture.rfind("gfx9", 0) == 0 ? 64 : 32;
  if (sheet.warp_size == lanes) return {};
  return "warp_size is " + std::to_string(sheet.warp_size) + "; that of " + sheet.architecture + " is " +
         std::to_string(lanes);
}

// The two ways to say how fast the memory is must agree: a slip of a digit in one shows.
std::string wrong_peak(const datasheet& sheet) {
  const double product = static_cast<double>(sheet.bus_width_bits) / 8 * sheet.memory_transfers_per_second;
  const double ratio = product / static_cast<double>(sheet.peak_bytes_per_second);
  if (ratio > 0.98 && ratio < 1.02) return {};
  return "peak_bytes_per_second is " + std::to_string(sheet.peak_bytes_per_second) +
         "; bus_width_bits / 8 * memory_transfers_per_second is " + std::to_string(static_cast<std::uint64_t>(product));
}

std::string wrong_copy(const datasheet& sheet) {
  if (sheet.timing.copy_bytes_per_second <= static_cast<double>(sheet.peak_bytes_per_second)) return {};
  return "timing.copy_bytes_per_second is " +
         std::to_string(static_cast<std::uint64_t>(sheet.timing.copy_bytes_per_second)) +
         "; it must be at most peak_bytes_per_second, which is " + std::to_string(sheet.peak_bytes_per_second);
}

}  // namespace

std::string contradiction_in(const datasheet& sheet) {
  for (const auto& find : {&wrong_warp, &wrong_order, &wrong_peak, &wrong_copy}) {
    std::string found = find(sheet);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace twill::simt
