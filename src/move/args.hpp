#pragma once

// The arguments of data movement, checked and made explicit: plain data, without a backend.

#include <cstdint>

namespace twill::detail {

/// Every extent at least 1, every stride explicit, in elements.
struct transpose_args {
  const void* in;
  void* out;
  std::int64_t element_bytes;
  std::int64_t rows, cols, batch;
  std::int64_t in_ld, out_ld;
  std::int64_t in_stride, out_stride;
};

/// Every extent at least 1, distances explicit, in elements; `ld` is `cols` unless the matrix is square.
struct transpose_in_place_args {
  static constexpr const char* launch = "launch of transpose_in_place";  ///< in messages
  void* data;
  std::int64_t element_bytes;
  std::int64_t rows, cols, batch;
  std::int64_t ld, stride;
  void* scratch;               ///< null for square matrices
  std::int64_t scratch_bytes;  ///< at least max(rows, cols) elements for others
};

/// One dimension of a permutation; strides in bytes.
struct permute_dim {
  std::int64_t extent, in_stride, out_stride;
};

/// A permutation in its normal form (move/plan/normal_form.hpp). What is contiguous on both sides is one run of
/// `run_bytes` bytes. Dimensions have extents of 2 and more and are sorted by the magnitude of out_stride, the smallest
/// first; in_stride may be negative. So may out_stride, of the one dimension that is contiguous in the input, where
/// another is contiguous in the output. No two of them could be one.
struct permute_args {
  const void* in;
  void* out;
  std::int64_t run_bytes;
  int rank;
  permute_dim dims[8];

  std::int64_t bytes() const {
    std::int64_t product = run_bytes;
    for (int i = 0; i < rank; ++i) product *= dims[i].extent;
    return product;
  }
};

/// At least two elements. Where in == out, it is done in place; otherwise they do not overlap.
struct reverse_args {
  const void* in;
  void* out;
  std::int64_t count, element_bytes;
};

/// At least one element; not all bytes of the value are equal.
struct fill_args {
  void* out;
  std::int64_t count, element_bytes;
  const unsigned char* value;  ///< host memory, valid during the call alone
};

}  // namespace twill::detail
