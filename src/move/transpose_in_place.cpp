#include <twill/transpose_in_place.hpp>

#include <algorithm>
#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/permute_call.hpp"

namespace twill {
namespace {

using detail::checked_product;
using detail::transpose_in_place_args;

constexpr std::int64_t fast_scratch_bytes = std::int64_t{32} << 20;

bool stays(const transpose_in_place_args& a) {
  return a.batch == 0 || std::min(a.rows, a.cols) <= 1;
}

// The shape with every distance explicit, found right.
transpose_in_place_args checked(std::int64_t element_bytes, const transpose_in_place_shape& shape) {
  detail::require_extent(shape.rows, "rows");
  detail::require_extent(shape.cols, "cols");
  detail::require_extent(shape.batch, "batch");
  detail::require_extent(shape.stride, "stride");
  detail::require_element_bytes(element_bytes, detail::largest_element_bytes);
  transpose_in_place_args a{nullptr, element_bytes, shape.rows, shape.cols, shape.batch, 0, shape.stride, nullptr, 0};
  a.ld = detail::explicit_ld(shape.ld, shape.cols, "ld");
  detail::require(a.ld == a.cols || a.rows == a.cols, "ld is not cols",
                  "only square matrices keep a leading dimension in place", "pack the matrix, or use twill::transpose");
  const auto matrix = checked_product(a.rows, a.ld, "rows * ld");
  if (a.stride == 0) a.stride = matrix;
  if (a.batch <= 1 || stays(a)) {
    checked_product(matrix, element_bytes, "the size in bytes");
    a.stride = matrix;
    return a;
  }
  checked_product(detail::checked_span(a.batch, a.stride, matrix, "the batch"), element_bytes, "the size in bytes");
  detail::require(detail::matrices_disjoint(a.rows, a.cols, a.ld, a.batch, a.stride), "stride is too small",
                  "matrices must not overlap", "enlarge it");
  return a;
}

std::int64_t scratch_of(const transpose_in_place_args& a, scratch_size size) {
  if (a.rows == a.cols || stays(a)) return 0;
  if (size == scratch_size::least) return std::max(a.rows, a.cols) * a.element_bytes;
  const std::int64_t matrix = a.rows * a.cols * a.element_bytes;
  return matrix * std::min(a.batch, std::max<std::int64_t>(1, fast_scratch_bytes / matrix));
}

}  // namespace

std::size_t transpose_in_place_scratch_bytes(const device&, extent element_bytes, const transpose_in_place_shape& shape,
                                             scratch_size size) {
  return detail::in_call("transpose_in_place_scratch_bytes", [&] {
    detail::require_enumerator(size, scratch_size::fast, "the scratch size");
    return static_cast<std::size_t>(scratch_of(checked(element_bytes, shape), size));
  });
}

void transpose_in_place_bytes(stream_ref stream, void* data, extent element_bytes,
                              const transpose_in_place_shape& shape, scratch_ref scratch) {
  detail::in_call("transpose_in_place", [&] {
    const auto queue = detail::queue_of(stream);
    auto a = checked(element_bytes, shape);
    if (stays(a)) return;
    detail::require_pointer(data, "data");
    a.data = data;
    if (const std::int64_t least = scratch_of(a, scratch_size::least); least > 0) {
      detail::require_scratch(scratch, static_cast<std::size_t>(least), "transpose_in_place", 1);
      const auto used = std::max(scratch_of(a, scratch_size::fast), least);
      a.scratch = scratch.data;
      a.scratch_bytes = static_cast<std::int64_t>(std::min(scratch.bytes, static_cast<std::size_t>(used)));
      const auto data_bytes = ((a.batch - 1) * a.stride + a.rows * a.cols) * a.element_bytes;
      detail::require_disjoint({"data", data, data_bytes}, {"scratch", scratch.data, a.scratch_bytes});
    }
    detail::operations_of(stream).move.transpose_in_place(queue, a);
  });
}

}  // namespace twill
