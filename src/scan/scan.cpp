#include <twill/scan.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/offsets.hpp"
#include "core/operations.hpp"
#include "scan/operations.hpp"

namespace twill {
namespace {

using detail::scan_args;

void require_operation(element_type type, const scan_options& options) {
  detail::require_element_type(type);
  detail::require_enumerator(options.op, scan_op::max, "the operation");
  const bool is_complex = type == element_type::c64 || type == element_type::c128;
  if (is_complex && options.op != scan_op::sum) {
    detail::fail(errc::invalid_argument, std::string("min and max are not defined for ") + std::string(name(type)),
                 "complex numbers have no order", "ask for sums");
  }
}

bool is_empty(const scan_args& args) {
  return args.rows == 0 || args.cols == 0;
}

// Bytes from the first element to the end of the last.
std::int64_t span_bytes(const scan_args& args, std::int64_t ld) {
  const auto rows = detail::checked_product(args.rows - 1, ld, "rows * leading dimension");
  detail::require(rows <= INT64_MAX - args.cols, "the rows are too long",
                  "their elements overflow a 64-bit signed integer", "split them");
  return detail::checked_product(rows + args.cols, static_cast<std::int64_t>(element_bytes(args.type)),
                                 "the size in bytes");
}

// Arguments without pointers; rows * cols is 0 when there is nothing to do.
scan_args args_of(element_type type, const scan_shape& shape, const scan_options& options) {
  detail::require_extent(shape.rows, "rows");
  detail::require_extent(shape.cols, "cols");
  require_operation(type, options);
  scan_args args{};
  args.type = type;
  args.options = options;
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.in_ld = detail::explicit_ld(shape.in_ld, shape.cols, "in_ld");
  args.out_ld = detail::explicit_ld(shape.out_ld, shape.cols, "out_ld");
  if (is_empty(args)) return args;
  if (args.rows == 1) args.in_ld = args.out_ld = args.cols;  // which mean nothing
  span_bytes(args, args.in_ld);
  span_bytes(args, args.out_ld);
  return args;
}

scan_args args_of(element_type type, std::int64_t count, const scan_options& options) {
  detail::require_extent(count, "count");
  return args_of(type, scan_shape{1, count}, options);
}

void require_memory(const scan_args& args) {
  detail::require_pointer(args.in, "in");
  detail::require_pointer(args.out, "out");
  detail::require_aligned(args.in, element_bytes(args.type), "in");
  detail::require_aligned(args.out, element_bytes(args.type), "out");
  const auto in_bytes = span_bytes(args, args.in_ld), out_bytes = span_bytes(args, args.out_ld);
  if (args.in == args.out) {
    if (args.in_ld == args.out_ld) return;
    detail::fail(errc::invalid_argument, "a scan in place has two leading dimensions",
                 "in_ld is " + std::to_string(args.in_ld) + ", out_ld " + std::to_string(args.out_ld),
                 "make them equal, or use separate memory");
  }
  detail::require_disjoint({"in", args.in, in_bytes}, {"out", args.out, out_bytes});
}

std::size_t scratch_of(const device& on, const scan_args& args) {
  return is_empty(args) ? 0 : on.impl()->operations->scan.scratch(args);
}

scan_args segment_args(element_type type, std::int64_t count, std::int64_t segments, const scan_options& options) {
  auto args = args_of(type, count, options);
  detail::require_extent(segments, "segments");
  args.segments = segments;
  return args;
}

void run(const char* operation, stream_ref stream, scan_args args, const void* in, void* out,
         const scratch_ref& scratch) {
  const auto queue = detail::queue_of(stream);
  args.in = in;
  args.out = out;
  require_memory(args);
  const std::size_t needed = scratch_of(stream.on(), args);
  detail::require_scratch(scratch, needed, operation);
  if (needed > 0) {
    const detail::named_memory work{"scratch", scratch.data, static_cast<std::int64_t>(needed)};
    detail::require_disjoint({"in", in, span_bytes(args, args.in_ld)}, work);
    detail::require_disjoint({"out", out, span_bytes(args, args.out_ld)}, work);
  }
  args.scratch = scratch.data;
  detail::operations_of(stream).scan.scan(queue, args);
}

// `extents` is a shape or a count.
template <class Extents>
void scan_of(stream_ref stream, const void* in, void* out, element_type type, const Extents& extents,
             const scratch_ref& scratch, const scan_options& options) {
  detail::in_call("scan", [&] {
    detail::device_of(stream);
    const auto args = args_of(type, extents, options);
    if (!is_empty(args)) run("scan", stream, args, in, out, scratch);
  });
}

void require_offsets(stream_ref stream, const scan_args& args, const void* out) {
  const auto bytes = detail::checked_product(args.segments, sizeof *args.offsets, "segments");
  if (bytes == 0) return;
  detail::require_pointer(args.offsets, "offsets");
  detail::require_aligned(args.offsets, alignof(std::int64_t), "offsets");
  detail::require_disjoint({"offsets", args.offsets, bytes}, {"out", out, span_bytes(args, args.out_ld)});
  detail::require_ascending_offsets(stream.on(), args.offsets, args.segments);
}

}  // namespace

std::size_t scan_scratch_bytes(const device& on, element_type type, const scan_shape& shape,
                               const scan_options& options) {
  return detail::in_call("scan_scratch_bytes", [&] { return scratch_of(on, args_of(type, shape, options)); });
}

std::size_t scan_scratch_bytes(const device& on, element_type type, extent count, const scan_options& options) {
  return detail::in_call("scan_scratch_bytes", [&] { return scratch_of(on, args_of(type, count, options)); });
}

std::size_t scan_segments_scratch_bytes(const device& on, element_type type, extent count, extent segments,
                                        const scan_options& options) {
  return detail::in_call("scan_segments_scratch_bytes",
                         [&] { return scratch_of(on, segment_args(type, count, segments, options)); });
}

void scan_untyped(stream_ref stream, const void* in, void* out, element_type type, const scan_shape& shape,
                  scratch_ref scratch, const scan_options& options) {
  scan_of(stream, in, out, type, shape, scratch, options);
}

void scan_untyped(stream_ref stream, const void* in, void* out, element_type type, extent count, scratch_ref scratch,
                  const scan_options& options) {
  scan_of(stream, in, out, type, std::int64_t{count}, scratch, options);
}

void scan_segments_untyped(stream_ref stream, const void* in, void* out, element_type type, extent count,
                           const std::int64_t* offsets, extent segments, scratch_ref scratch,
                           const scan_options& options) {
  detail::in_call("scan_segments", [&] {
    detail::device_of(stream);
    auto args = segment_args(type, count, segments, options);
    if (is_empty(args)) return;
    args.offsets = args.segments > 0 ? offsets : nullptr;
    require_offsets(stream, args, out);
    run("scan_segments", stream, args, in, out, scratch);
  });
}

}  // namespace twill
