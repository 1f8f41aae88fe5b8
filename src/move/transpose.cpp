#include <twill/transpose.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"

namespace twill {
namespace {

using detail::checked_product;

constexpr std::int64_t largest_element_bytes = 64;

// A leading dimension as given, or the length of a row when 0; at least that, so that rows do not share elements.
std::int64_t explicit_ld(std::int64_t given, std::int64_t row, const char* what) {
  detail::require_extent(given, what);
  if (given == 0) return row;
  if (given < row) {
    detail::fail(errc::invalid_argument, std::string(what) + " is too small",
                 std::to_string(given) + ", but a row has " + std::to_string(row) + " elements", "enlarge it");
  }
  return given;
}

// Elements from the first to one past the last of a batch of strided matrices, in bytes.
std::int64_t span_bytes(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t batch, std::int64_t stride,
                        std::int64_t element_bytes) {
  const auto to_last_row = checked_product(rows - 1, ld, "a matrix");
  detail::require(to_last_row <= INT64_MAX - cols, "a matrix overflows", "its elements do not fit 63 bits", "split it");
  const auto matrix = to_last_row + cols;
  const auto all = checked_product(batch - 1, stride, "the batch");
  detail::require(all <= INT64_MAX - matrix, "the batch overflows", "its elements do not fit 63 bits", "split it");
  return checked_product(all + matrix, element_bytes, "the size in bytes");
}

}  // namespace

void transpose_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                     const transpose_shape& shape) {
  detail::require_extent(shape.rows, "rows");
  detail::require_extent(shape.cols, "cols");
  detail::require_extent(shape.batch, "batch");
  detail::require(element_bytes >= 1 && element_bytes <= largest_element_bytes, "elements of this size cannot be moved",
                  std::to_string(element_bytes) + " bytes", "use 1 to 64 bytes");

  detail::transpose_args args{in, out, element_bytes, shape.rows, shape.cols, shape.batch, 0, 0, 0, 0};
  args.in_ld = explicit_ld(shape.in_ld, shape.cols, "in_ld");
  args.out_ld = explicit_ld(shape.out_ld, shape.rows, "out_ld");
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return;
  detail::require_extent(shape.in_stride, "in_stride");
  detail::require_extent(shape.out_stride, "out_stride");
  args.in_stride = shape.in_stride != 0 ? shape.in_stride : checked_product(args.rows, args.in_ld, "rows * in_ld");
  args.out_stride = shape.out_stride != 0 ? shape.out_stride : checked_product(args.cols, args.out_ld, "cols * out_ld");

  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  const auto in_bytes = span_bytes(args.rows, args.cols, args.in_ld, args.batch, args.in_stride, element_bytes);
  const auto out_bytes = span_bytes(args.cols, args.rows, args.out_ld, args.batch, args.out_stride, element_bytes);
  detail::require_disjoint(in, in_bytes, out, out_bytes);

  // One after another, or side by side in rows that are long enough for all of them.
  const bool apart = args.batch == 1 || args.out_stride >= (args.cols - 1) * args.out_ld + args.rows ||
                     (args.out_stride >= args.rows && args.out_stride <= (args.out_ld - args.rows) / (args.batch - 1));
  detail::require(apart, "out_stride is too small", "the output's matrices must not overlap", "enlarge it");

  // Distances that nothing lies apart by: as given they could spoil the alignment, or not fit 63 bits as bytes.
  if (args.rows == 1) args.in_ld = args.cols;
  if (args.cols == 1) args.out_ld = args.rows;
  if (args.batch == 1) args.in_stride = args.out_stride = args.rows * args.cols;

  detail::operations_of(stream.on()).move.transpose(detail::queue_of(stream), args);
}

namespace detail {

void require_aligned(const void* pointer, std::size_t alignment, const char* what) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  fail(errc::invalid_argument, std::string(what) + " is misaligned",
       "its type needs " + std::to_string(alignment) + "-byte alignment", "pass an aligned pointer");
}

}  // namespace detail
}  // namespace twill
