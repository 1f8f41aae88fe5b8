#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/stream.hpp>

namespace twill {

/// One number a dimension, outermost first: {64, 3, 224, 224}. At most eight; nothing is allocated.
class TWILL_API dims {
 public:
  static constexpr int capacity = 8;

  dims() noexcept = default;
  /// Throws: invalid_argument for more than eight values, and for a null pointer to any.
  dims(std::initializer_list<extent> values);
  dims(const std::int64_t* values, std::size_t count);

  int size() const noexcept { return size_; }
  std::int64_t operator[](int i) const noexcept { return values_[i]; }
  const std::int64_t* begin() const noexcept { return values_; }
  const std::int64_t* end() const noexcept { return values_ + size_; }

 private:
  std::int64_t values_[capacity] = {};
  int size_ = 0;
};

/// An array of 1 to 8 dimensions and the order in which its output has them. Strides are in elements, may be negative,
/// and mean nothing for a dimension of extent 1; a list of strides left empty is packed.
struct permute_shape {
  dims extents{};      ///< of the input
  dims order{};        ///< dimension i of the output is dimension order[i] of the input
  dims in_strides{};   ///< from one element to the next along each dimension of the input
  dims out_strides{};  ///< the same for the output, in the output's order of dimensions

  permute_shape with_in_strides(const dims& strides) const { return {extents, order, strides, out_strides}; }
  permute_shape with_out_strides(const dims& strides) const { return {extents, order, in_strides, strides}; }
};

/// `permute` for elements known by their size alone: any number of bytes from 1 to 64.
/// Memory: pointers need no alignment beyond 1 byte; the better aligned they are, the wider the accesses.
TWILL_API void permute_bytes(stream_ref stream, const void* in, void* out, extent element_bytes,
                             const permute_shape& shape);

/// Puts the dimensions of an array into another order: element (i0, i1, ...) of the output is the element of the input
/// whose index along dimension order[k] is ik. Out of place.
///
/// Shape: `{{2, 1, 3}, {2, 0, 1}}` makes [1,2,3, 4,5,6] into [1,4, 2,5, 3,6], of extents 3, 2, 1. Extents may be 0;
///   gaps that strides leave in the output stay untouched. `{{2, 3}, {0, 1}, {-3, 1}}` swaps two rows.
/// Units: 2 * (product of the extents) * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T. A pointer names the
///   element of index 0 in every dimension; with negative strides others lie before it. The ranges of memory from the
///   first to the last element of `in` and of `out` must not overlap. Bytes of `in` between its elements may be read.
/// Order: asynchronous in `stream`; no synchronisation, no allocation, no plan to keep. May be called from several
///   threads, on different streams, and captured in a graph.
/// Throws: invalid_argument, before anything is launched: also for a stride of 0, and for output strides that are
///   found to make two elements meet (not all such strides are found); launch_failed.
/// Source: Hynninen and Lyakh, 2017, cuTT: A High-Performance Tensor Transpose Library for CUDA Compatible GPUs (fusing
///   dimensions, packing short ones).
template <class T>
void permute(stream_ref stream, const T* in, T* out, const permute_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 64, "elements of up to 64 bytes, moved as bytes");
  detail::require_aligned("permute", in, alignof(T), "in");
  detail::require_aligned("permute", out, alignof(T), "out");
  permute_bytes(stream, in, out, sizeof(T), shape);
}

}  // namespace twill
