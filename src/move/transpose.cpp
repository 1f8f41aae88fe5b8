#include <twill/transpose.hpp>

#include <limits>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/copy_rows.hpp"
#include "move/operations.hpp"

namespace twill {
namespace {

using detail::checked_product;
using detail::transpose_args;

constexpr std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();

// Bytes from the first element to the end of the last of a batch of strided matrices.
std::int64_t span_bytes(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t batch, std::int64_t stride,
                        std::int64_t element_bytes) {
  const auto to_last_row = checked_product(rows - 1, ld, "a matrix");
  detail::require(to_last_row <= most_elements - cols, "a matrix is too large",
                  "its elements overflow a 64-bit signed integer", "split it");
  const auto matrix = to_last_row + cols;
  const auto all = checked_product(batch - 1, stride, "the batch");
  detail::require(all <= most_elements - matrix, "the batch is too large",
                  "its elements overflow a 64-bit signed integer", "split it");
  return checked_product(all + matrix, element_bytes, "the size in bytes");
}

// One after another, or interleaved in rows that are long enough for all of them.
bool disjoint_outputs(const transpose_args& a) {
  return a.batch == 1 || a.out_stride >= (a.cols - 1) * a.out_ld + a.rows ||
         (a.out_stride >= a.rows && a.out_stride <= (a.out_ld - a.rows) / (a.batch - 1));
}

bool is_empty(const transpose_args& a) {
  return a.rows == 0 || a.cols == 0 || a.batch == 0;
}

// Everything checked and explicit; an extent of 0 where there is nothing to do.
transpose_args checked_args(const void* in, void* out, std::int64_t element_bytes, const transpose_shape& shape) {
  detail::require_extent(shape.rows, "rows");
  detail::require_extent(shape.cols, "cols");
  detail::require_extent(shape.batch, "batch");
  detail::require_element_bytes(element_bytes, detail::largest_element_bytes);
  transpose_args a{in, out, element_bytes, shape.rows, shape.cols, shape.batch, 0, 0, 0, 0};
  a.in_ld = detail::explicit_ld(shape.in_ld, shape.cols, "in_ld");
  a.out_ld = detail::explicit_ld(shape.out_ld, shape.rows, "out_ld");
  detail::require_extent(shape.in_stride, "in_stride");
  detail::require_extent(shape.out_stride, "out_stride");
  if (is_empty(a)) return a;
  const bool batched = a.batch > 1;
  if (batched) a.in_stride = shape.in_stride;
  if (batched) a.out_stride = shape.out_stride;
  if (a.in_stride == 0) a.in_stride = checked_product(a.rows, a.in_ld, "rows * in_ld");
  if (a.out_stride == 0) a.out_stride = checked_product(a.cols, a.out_ld, "cols * out_ld");
  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  const auto in_bytes = span_bytes(a.rows, a.cols, a.in_ld, a.batch, a.in_stride, element_bytes);
  const auto out_bytes = span_bytes(a.cols, a.rows, a.out_ld, a.batch, a.out_stride, element_bytes);
  detail::require_disjoint({"in", in, in_bytes}, {"out", out, out_bytes});
  detail::require(disjoint_outputs(a), "out_stride is too small", "the output's matrices must not overlap",
                  "enlarge it");
  // Leading dimensions and strides that nothing is at: as given they could seem misaligned, or not fit 63 bits in
  // bytes.
  if (a.rows == 1) a.in_ld = a.cols;
  if (a.cols == 1) a.out_ld = a.rows;
  if (!batched) {
    a.in_stride = a.rows * a.in_ld;
    a.out_stride = a.cols * a.out_ld;
  }
  return a;
}

// Vectors keep their order: a batch of them is rows to copy. No rows where it is none, or has gaps between elements.
detail::pitched_rows rows_of_vectors(const transpose_args& a) {
  const std::int64_t length = a.rows * a.cols, bytes = length * a.element_bytes;
  const bool is_vector = (a.rows == 1 && a.out_ld == 1) || (a.cols == 1 && a.in_ld == 1);
  if (!is_vector || (a.batch > 1 && (a.in_stride < length || a.out_stride < length))) return {};
  if (a.batch == 1) return {a.in, a.out, 1, bytes, bytes, bytes};
  if (a.in_stride == length && a.out_stride == length) {
    return {a.in, a.out, 1, a.batch * bytes, a.batch * bytes, a.batch * bytes};
  }
  return {a.in, a.out, a.batch, bytes, a.in_stride * a.element_bytes, a.out_stride * a.element_bytes};
}

}  // namespace

void transpose_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const transpose_shape& shape) {
  detail::in_call("transpose", [&] {
    const auto queue = detail::queue_of(stream);
    const auto args = checked_args(in, out, element_bytes, shape);
    if (is_empty(args)) return;
    if (const auto rows = rows_of_vectors(args); rows.rows > 0) {
      detail::copy_rows(stream, rows, detail::copy_direction::device_to_device);
    } else {
      detail::operations_of(stream).move.transpose(queue, args);
    }
  });
}

}  // namespace twill
