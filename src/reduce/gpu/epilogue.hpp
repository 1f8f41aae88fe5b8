#pragma once

// The epilogue of a reduction: converts the accumulator and stores it.

#include "element_map.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How the accumulator is converted.
enum class epilogue : int {
  plain,        ///< its low bytes
  flipped,      ///< flipped back
  float_key,    ///< likewise; NaN where it was first
  all_nonzero,  ///< 1 when it is zero: no element was zero
  any_nonzero,  ///< 1 when it is not zero
  odd_nonzero,  ///< 1 when it is odd
  float16,      ///< f32 to f16
  bfloat16,     ///< f32 to bf16
};

struct epilogue_params {
  void* out;
  int out_bytes;
  epilogue op;
  std::uint64_t flip;  ///< as in op_params
  std::uint64_t nan;   ///< the bits of every NaN: which one comes out of two is each device's own choice
};

__device__ inline void store_bits(const epilogue_params& f, std::int64_t at, std::uint64_t bits) {
  switch (f.out_bytes) {
    case 1:
      static_cast<std::uint8_t*>(f.out)[at] = static_cast<std::uint8_t>(bits);
      break;
    case 2:
      static_cast<std::uint16_t*>(f.out)[at] = static_cast<std::uint16_t>(bits);
      break;
    case 4:
      static_cast<std::uint32_t*>(f.out)[at] = static_cast<std::uint32_t>(bits);
      break;
    default:
      static_cast<std::uint64_t*>(f.out)[at] = bits;
  }
}

/// The element that float_key made `key` of: `bytes` wide.
__device__ inline std::uint64_t float_of_key(const epilogue_params& f, std::uint64_t key) {
  const std::uint64_t top = std::uint64_t{1} << (8 * f.out_bytes - 1), all = top | (top - 1);
  if (key == 0) return f.nan;
  const std::uint64_t unflipped = (key ^ f.flip) & all;
  return (unflipped & top) != 0 ? unflipped ^ top : ~unflipped & all;
}

__device__ inline void store_result(const epilogue_params& f, std::int64_t at, std::uint64_t value) {
  switch (f.op) {
    case epilogue::flipped:
      return store_bits(f, at, value ^ f.flip);
    case epilogue::float_key:
      return store_bits(f, at, float_of_key(f, value));
    case epilogue::all_nonzero:
      return store_bits(f, at, value == 0 ? 1 : 0);
    case epilogue::any_nonzero:
      return store_bits(f, at, value != 0 ? 1 : 0);
    case epilogue::odd_nonzero:
      return store_bits(f, at, value & 1);
    default:
      return store_bits(f, at, value);
  }
}
__device__ inline void store_result(const epilogue_params& f, std::int64_t at, std::uint32_t value) {
  store_result(f, at, static_cast<std::uint64_t>(value));
}

template <class T>
__device__ inline key_for<T> bits_of(const epilogue_params& f, T value) {
  return value == value ? bits_as<key_for<T>>(value) : static_cast<key_for<T>>(f.nan);
}

__device__ inline void store_result(const epilogue_params& f, std::int64_t at, float value) {
  if (value != value) return store_bits(f, at, f.nan);
  if (f.op == epilogue::float16) return store_bits(f, at, half_from_float(value));
  const auto bits = bits_as<std::uint32_t>(value);
  if (f.op == epilogue::bfloat16) {
    const bool up = (bits & 0xffffu) > 0x8000u || (bits & 0x1ffffu) == 0x18000u;
    return store_bits(f, at, (bits >> 16) + (up ? 1 : 0));
  }
  store_bits(f, at, bits);
}
__device__ inline void store_result(const epilogue_params& f, std::int64_t at, double value) {
  store_bits(f, at, bits_of(f, value));
}
template <class T>
__device__ inline void store_result(const epilogue_params& f, std::int64_t at, complex_value<T> value) {
  using word = key_for<T>;
  word* to = static_cast<word*>(f.out) + 2 * at;
  to[0] = bits_of(f, value.re);
  to[1] = bits_of(f, value.im);
}
__device__ inline void store_result(const epilogue_params& f, std::int64_t at, indexed_key value) {
  static_cast<std::int64_t*>(f.out)[at] = value.index;
}

}  // namespace twill::TWILL_BACKEND::kernels
