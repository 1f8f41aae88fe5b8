#include <twill/reduce.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/offsets.hpp"
#include "core/operations.hpp"
#include "reduce/operations.hpp"
#include "reduce/scratch.hpp"

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
bool gives_index(reduce_op op) {
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
  detail::require_enumerator(op, reduce_op::bitwise_xor, "the operation");
  detail::require_enumerator(in, type::c128, "the type of in");
  detail::require_enumerator(out, type::c128, "the type of out");
  const bool has = is_bitwise(op) ? is_integer(in) : !is_complex(in) || op <= reduce_op::product || is_logical(op);
  if (!has) {
    detail::fail(errc::invalid_argument, std::string(name_of(op)) + " of " + std::string(name(in)) + " is not defined",
                 is_bitwise(op) ? "bits are those of integers" : "complex numbers have no order", "use another type");
  }
  const bool may_be_wide = op == reduce_op::sum || op == reduce_op::product;
  const type usual = gives_index(op) ? type::i64 : is_logical(op) ? type::u8 : in;
  if (out == usual || (may_be_wide && out == wide(in))) return;
  std::string takes(name(usual));
  if (may_be_wide && wide(in) != usual) takes.append(" or ").append(name(wide(in)));
  detail::fail(errc::invalid_argument,
               std::string(name_of(op)) + " of " + std::string(name(in)) + " does not support output type " +
                   std::string(name(out)),
               "its result is " + takes, "pass an output of that type");
}

/// What a call is given besides memory.
struct problem {
  detail::reduce_over over;
  type in_type, out_type;
  reduce_shape shape;
  reduce_options options;

  std::int64_t results() const { return over == detail::reduce_over::columns ? shape.cols : shape.rows; }
  std::int64_t length() const { return over == detail::reduce_over::columns ? shape.rows : shape.cols; }
};

/// Sizes in bytes, from the first element to the end of the last.
struct reduce_sizes {
  std::int64_t in = 0, out = 0, offsets = 0;
};

constexpr std::int64_t offset_bytes = sizeof(std::int64_t);

std::int64_t bytes_of(type t) {
  return static_cast<std::int64_t>(element_bytes(t));
}

/// Checks all but memory. Segments are the rows of the shape, of no columns.
reduce_sizes checked_sizes(const problem& p) {
  require_types(p.options.op, p.in_type, p.out_type);
  reduce_sizes found;
  if (p.over == detail::reduce_over::segments) {
    detail::require_extent(p.shape.rows, "segments");
    // 16 bytes a segment: neither the offsets, one more than segments, nor the results have more.
    detail::checked_product(p.shape.rows, 2 * offset_bytes, "segments");
    found.offsets = (p.shape.rows + 1) * offset_bytes;
    found.out = p.shape.rows * bytes_of(p.out_type);
    return found;
  }
  detail::require_extent(p.shape.rows, "rows");
  detail::require_extent(p.shape.cols, p.shape.rows == 1 && p.shape.ld == 0 ? "the number of elements" : "cols");
  const std::int64_t ld = detail::explicit_ld(p.shape.ld, p.shape.cols, "ld");
  const std::int64_t gap = p.shape.rows == 1 ? 0 : ld - p.shape.cols;
  const auto rows = detail::checked_product(p.shape.rows, p.shape.cols + gap, "the matrix");
  const auto padded = detail::checked_product(rows, bytes_of(p.in_type), "the size in bytes");
  found.out = detail::checked_product(p.results(), bytes_of(p.out_type), "the output");
  // What lies between the end of the last row and ld belongs to others.
  found.in = p.results() == 0 || p.length() == 0 ? 0 : padded - gap * bytes_of(p.in_type);
  detail::require(p.results() == 0 || p.length() > 0 || !gives_index(p.options.op),
                  "no elements have no smallest and no largest", "the length is 0", "pass at least one element");
  return found;
}

std::size_t scratch_of(const device& on, const problem& p) {
  if (p.over == detail::reduce_over::segments || p.results() == 0) return 0;
  if (p.over == detail::reduce_over::columns) {
    const bool contiguous = p.shape.ld == 0 || p.shape.ld == p.shape.cols;
    const int slots = 16 / static_cast<int>(bytes_of(p.in_type));
    return detail::reduce_columns_scratch(p.options.op, p.in_type, {p.shape.rows, p.shape.cols, slots, contiguous},
                                          on.properties().multiprocessors);
  }
  return detail::reduce_rows_scratch(p.shape.rows, p.shape.cols * bytes_of(p.in_type));
}

void run(const char* operation, stream_ref stream, const problem& p, const void* in, void* out,
         const std::int64_t* offsets, const scratch_ref& scratch) {
  const auto queue = detail::queue_of(stream);
  const reduce_sizes bytes = checked_sizes(p);
  if (p.results() == 0) return;
  const detail::named_memory input{"in", in, bytes.in}, output{"out", out, bytes.out},
      work{"scratch", scratch.data, static_cast<std::int64_t>(scratch_of(stream.on(), p))},
      places{"offsets", offsets, bytes.offsets};
  detail::require_memory(output, element_bytes(p.out_type));
  if (p.over == detail::reduce_over::segments) {
    detail::require_aligned(in, element_bytes(p.in_type), "in");  // null where all segments are empty
    detail::require_memory(places, sizeof *offsets);
    detail::require_disjoint(places, output);
    detail::require_ascending_offsets(stream.on(), offsets, p.shape.rows + 1);
  } else if (p.length() > 0) {
    detail::require_memory(input, element_bytes(p.in_type));
    detail::require_disjoint(input, output);
  }
  detail::require_scratch(scratch, static_cast<std::size_t>(work.bytes), operation);
  if (work.bytes > 0) {
    detail::require_disjoint(output, work);
    if (p.length() > 0) detail::require_disjoint(input, work);
  }
  const bool one_row = p.shape.ld == 0 || p.shape.rows == 1;
  const std::int64_t ld = one_row ? p.shape.cols : p.shape.ld;
  detail::operations_of(stream).reduce.reduce(
      queue, {p.over, p.options.op, p.in_type, p.out_type, in, out, p.shape.rows, p.shape.cols, ld, offsets,
              scratch.data, work.bytes, p.options.cleared_scratch});
}

std::size_t scratch_bytes(const char* operation, const device& on, const problem& p) {
  return detail::in_call(operation, [&] {
    on.impl();
    checked_sizes(p);
    return scratch_of(on, p);
  });
}

using detail::reduce_over;

}  // namespace

std::size_t reduce_scratch_bytes(const device& on, type in_type, type out_type, extent count,
                                 const reduce_options& options) {
  return scratch_bytes("reduce_scratch_bytes", on, {reduce_over::rows, in_type, out_type, {1, count}, options});
}

std::size_t reduce_rows_scratch_bytes(const device& on, type in_type, type out_type, const reduce_shape& shape,
                                      const reduce_options& options) {
  return scratch_bytes("reduce_rows_scratch_bytes", on, {reduce_over::rows, in_type, out_type, shape, options});
}

std::size_t reduce_columns_scratch_bytes(const device& on, type in_type, type out_type, const reduce_shape& shape,
                                         const reduce_options& options) {
  return scratch_bytes("reduce_columns_scratch_bytes", on, {reduce_over::columns, in_type, out_type, shape, options});
}

std::size_t reduce_segments_scratch_bytes(const device& on, type in_type, type out_type, extent segments,
                                          const reduce_options& options) {
  return scratch_bytes("reduce_segments_scratch_bytes", on,
                       {reduce_over::segments, in_type, out_type, {segments, 0}, options});
}

void reduce_untyped(stream_ref stream, const void* in, void* out, type in_type, type out_type, extent count,
                    scratch_ref scratch, const reduce_options& options) {
  detail::in_call("reduce", [&] {
    run("reduce", stream, {reduce_over::rows, in_type, out_type, {1, count}, options}, in, out, nullptr, scratch);
  });
}

void reduce_rows_untyped(stream_ref stream, const void* in, void* out, type in_type, type out_type,
                         const reduce_shape& shape, scratch_ref scratch, const reduce_options& options) {
  detail::in_call("reduce_rows", [&] {
    run("reduce_rows", stream, {reduce_over::rows, in_type, out_type, shape, options}, in, out, nullptr, scratch);
  });
}

void reduce_columns_untyped(stream_ref stream, const void* in, void* out, type in_type, type out_type,
                            const reduce_shape& shape, scratch_ref scratch, const reduce_options& options) {
  detail::in_call("reduce_columns", [&] {
    run("reduce_columns", stream, {reduce_over::columns, in_type, out_type, shape, options}, in, out, nullptr, scratch);
  });
}

void reduce_segments_untyped(stream_ref stream, const void* in, void* out, type in_type, type out_type,
                             const std::int64_t* offsets, extent segments, scratch_ref scratch,
                             const reduce_options& options) {
  detail::in_call("reduce_segments", [&] {
    run("reduce_segments", stream, {reduce_over::segments, in_type, out_type, {segments, 0}, options}, in, out, offsets,
        scratch);
  });
}

}  // namespace twill
