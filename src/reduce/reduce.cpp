#include <twill/reduce.hpp>
#include <twill/transpose.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "reduce/operations.hpp"

namespace twill {
namespace {

using detail::reduce_args;
using type = element_type;

bool is_integer(type t) {
  return t <= type::u64;
}
bool is_signed_integer(type t) {
  return t <= type::i64;
}
bool is_complex(type t) {
  return t == type::c64 || t == type::c128;
}
bool is_bitwise(reduce_op op) {
  return op >= reduce_op::bitwise_and;
}
bool is_logical(reduce_op op) {
  return op >= reduce_op::logical_and && op <= reduce_op::logical_xor;
}
bool gives_place(reduce_op op) {
  return op == reduce_op::argmin || op == reduce_op::argmax;
}

constexpr const char* op_names[] = {"sum",         "product",     "min",         "max",
                                    "argmin",      "argmax",      "logical_and", "logical_or",
                                    "logical_xor", "bitwise_and", "bitwise_or",  "bitwise_xor"};

const char* name_of(reduce_op op) {
  return op_names[static_cast<int>(op)];
}

type wide(type t) {
  if (is_integer(t)) return is_signed_integer(t) ? type::i64 : type::u64;
  return t == type::f16 || t == type::bf16 ? type::f32 : t;
}

void require_types(reduce_op op, type in, type out) {
  const bool has = is_bitwise(op) ? is_integer(in) : !is_complex(in) || op <= reduce_op::product || is_logical(op);
  if (!has) {
    detail::fail(errc::invalid_argument, std::string(name_of(op)) + " of " + std::string(name(in)) + " is not defined",
                 is_bitwise(op) ? "bits are those of integers" : "complex numbers have no order", "use another type");
  }
  const bool may_be_wide = op == reduce_op::sum || op == reduce_op::product;
  const type usual = gives_place(op) ? type::i64 : is_logical(op) ? type::u8 : in;
  if (out == usual || (may_be_wide && out == wide(in))) return;
  std::string takes(name(usual));
  if (may_be_wide && wide(in) != usual) takes.append(" or ").append(name(wide(in)));
  detail::fail(errc::invalid_argument,
               std::string(name_of(op)) + " of " + std::string(name(in)) + " cannot give " + std::string(name(out)),
               "its result is " + takes, "pass an output of that type");
}

void start(stream_ref stream, reduce_args args) {
  detail::operations_of(stream.on()).reduce.reduce(detail::queue_of(stream), args);
}

/// Checks what rows and columns share, and runs unless there is no result.
void run_matrix(stream_ref stream, reduce_args args, const reduce_shape& shape, const reduce_scratch& scratch) {
  require_types(args.op, args.in_type, args.out_type);
  detail::require_extent(shape.rows, "rows");
  detail::require_extent(shape.cols, "cols");
  detail::require_extent(shape.ld, "ld");
  if (shape.ld != 0 && shape.ld < shape.cols) {
    detail::fail(errc::invalid_argument, "ld is too small",
                 std::to_string(shape.ld) + ", but a row has " + std::to_string(shape.cols) + " elements",
                 "enlarge it");
  }
  args.ld = shape.ld == 0 || shape.rows == 1 ? shape.cols : shape.ld;
  const bool by_columns = args.over == detail::reduce_over::columns;
  const std::int64_t results = by_columns ? shape.cols : shape.rows, length = by_columns ? shape.rows : shape.cols;
  const auto element = static_cast<std::int64_t>(element_bytes(args.in_type));
  const auto whole_rows =
      detail::checked_product(detail::checked_product(shape.rows, args.ld, "the matrix"), element, "the size in bytes");
  const auto out_bytes =
      detail::checked_product(results, static_cast<std::int64_t>(element_bytes(args.out_type)), "the output");
  detail::require_same_device(scratch.on(), stream);
  if (results == 0) return;
  detail::require(length > 0 || !gives_place(args.op), "no elements have no smallest and no largest", "the length is 0",
                  "pass at least one element");
  detail::require_pointer(args.out, "out");
  detail::require_aligned(args.out, element_bytes(args.out_type), "out");
  if (length > 0) {
    detail::require_pointer(args.in, "in");
    detail::require_aligned(args.in, element_bytes(args.in_type), "in");
    // What lies between the end of the last row and ld belongs to others.
    const std::int64_t in_bytes = whole_rows - (args.ld - shape.cols) * element;
    detail::require_disjoint(args.in, in_bytes, args.out, out_bytes);
    detail::require_scratch_apart(scratch.data(), reduce_scratch_bytes, args.in, in_bytes, "in");
  }
  detail::require_scratch_apart(scratch.data(), reduce_scratch_bytes, args.out, out_bytes, "out");
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.scratch = scratch.data();
  start(stream, args);
}

reduce_args arguments(detail::reduce_over over, reduce_op op, const void* in, type in_type, void* out, type out_type) {
  reduce_args args{};
  args.over = over;
  args.op = op;
  args.in_type = in_type;
  args.out_type = out_type;
  args.in = in;
  args.out = out;
  return args;
}

}  // namespace

reduce_scratch::reduce_scratch(stream_ref stream) : owned_(stream.on(), reduce_scratch_bytes), memory_(owned_.data()) {
  fill_bytes(stream, memory_, 0, detail::reduce_ticket_bytes);
}

reduce_scratch::reduce_scratch(stream_ref stream, void* memory, std::size_t bytes)
    : owned_(stream.on(), 0), memory_(memory) {
  detail::require_pointer(memory, "scratch");
  detail::require_aligned(memory, 256, "scratch");
  if (bytes < reduce_scratch_bytes) {
    detail::fail(errc::invalid_argument, "scratch is too small",
                 std::to_string(bytes) + " of " + std::to_string(reduce_scratch_bytes) + " bytes",
                 "give reduce_scratch_bytes");
  }
  fill_bytes(stream, memory_, 0, detail::reduce_ticket_bytes);
}

void reduce_bytes(stream_ref stream, reduce_op op, const void* in, type in_type, void* out, type out_type,
                  std::int64_t count, const reduce_scratch& scratch) {
  detail::require_extent(count, "count");
  run_matrix(stream, arguments(detail::reduce_over::rows, op, in, in_type, out, out_type), {1, count, 0}, scratch);
}

void reduce_rows_bytes(stream_ref stream, reduce_op op, const void* in, type in_type, void* out, type out_type,
                       const reduce_shape& shape, const reduce_scratch& scratch) {
  run_matrix(stream, arguments(detail::reduce_over::rows, op, in, in_type, out, out_type), shape, scratch);
}

void reduce_columns_bytes(stream_ref stream, reduce_op op, const void* in, type in_type, void* out, type out_type,
                          const reduce_shape& shape, const reduce_scratch& scratch) {
  run_matrix(stream, arguments(detail::reduce_over::columns, op, in, in_type, out, out_type), shape, scratch);
}

void reduce_segments_bytes(stream_ref stream, reduce_op op, const void* in, type in_type, void* out, type out_type,
                           const std::int64_t* offsets, std::int64_t segments, const reduce_scratch& scratch) {
  require_types(op, in_type, out_type);
  detail::require_extent(segments, "segments");
  // 16 bytes a segment: neither the offsets, one more than segments, nor the results have more.
  detail::checked_product(segments, 2 * sizeof *offsets, "segments");
  const std::int64_t offset_bytes = (segments + 1) * static_cast<std::int64_t>(sizeof *offsets),
                     out_bytes = segments * static_cast<std::int64_t>(element_bytes(out_type));
  detail::require_same_device(scratch.on(), stream);
  if (segments == 0) return;
  auto args = arguments(detail::reduce_over::segments, op, in, in_type, out, out_type);
  detail::require_pointer(out, "out");
  detail::require_pointer(offsets, "offsets");
  detail::require_aligned(in, element_bytes(in_type), "in");  // null where all segments are empty
  detail::require_aligned(out, element_bytes(out_type), "out");
  detail::require_aligned(offsets, sizeof *offsets, "offsets");
  detail::require_disjoint(offsets, offset_bytes, out, out_bytes);
  detail::require_scratch_apart(scratch.data(), reduce_scratch_bytes, offsets, offset_bytes, "offsets");
  detail::require_scratch_apart(scratch.data(), reduce_scratch_bytes, out, out_bytes, "out");
  args.offsets = offsets;
  args.rows = segments;
  args.scratch = scratch.data();
  start(stream, args);
}

}  // namespace twill
