#include <twill/scan.hpp>
#include <twill/transpose.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "scan/operations.hpp"

namespace twill {
namespace {

using detail::scan_args;

std::int64_t explicit_ld(std::int64_t given, std::int64_t cols, const char* what) {
  detail::require_extent(given, what);
  if (given == 0) return cols;
  if (given < cols) {
    detail::fail(errc::invalid_argument, std::string(what) + " is too small",
                 std::to_string(given) + ", but a row has " + std::to_string(cols) + " elements", "enlarge it");
  }
  return given;
}

void require_operation(element_type type, const scan_options& options) {
  const bool is_complex = type == element_type::c64 || type == element_type::c128;
  if (is_complex && options.op != scan_op::sum) {
    detail::fail(errc::invalid_argument, std::string("there is no min or max of ") + std::string(name(type)),
                 "complex numbers have no order", "ask for sums");
  }
}

bool is_empty(const scan_args& args) {
  return args.rows == 0 || args.cols == 0;
}

// Bytes from the first element to the end of the last.
std::int64_t span_bytes(const scan_args& args, std::int64_t ld) {
  const auto rows = detail::checked_product(args.rows - 1, ld, "rows * leading dimension");
  detail::require(rows <= INT64_MAX - args.cols, "the rows overflow", "their elements do not fit 63 bits",
                  "split them");
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
  args.in_ld = explicit_ld(shape.in_ld, shape.cols, "in_ld");
  args.out_ld = explicit_ld(shape.out_ld, shape.cols, "out_ld");
  if (is_empty(args)) return args;
  if (args.rows == 1) args.in_ld = args.out_ld = args.cols;  // distances that nothing lies apart by
  span_bytes(args, args.in_ld);
  span_bytes(args, args.out_ld);
  return args;
}

scan_args args_of(element_type type, std::int64_t count, const scan_options& options) {
  detail::require_extent(count, "count");
  return args_of(type, scan_shape{count, 1, 0, 0}, options);
}

void require_memory(const scan_args& args) {
  detail::require_pointer(args.in, "in");
  detail::require_pointer(args.out, "out");
  detail::require_aligned(args.in, element_bytes(args.type), "in");
  detail::require_aligned(args.out, element_bytes(args.type), "out");
  const auto in_bytes = span_bytes(args, args.in_ld), out_bytes = span_bytes(args, args.out_ld);
  if (args.in == args.out && args.in_ld == args.out_ld) return;
  detail::require_disjoint(args.in, in_bytes, args.out, out_bytes);
}

void require_scratch(const void* scratch, std::size_t given, std::size_t needed) {
  if (needed == 0) return;
  detail::require_pointer(scratch, "scratch");
  detail::require_aligned(scratch, 16, "scratch");
  if (given < needed) {
    detail::fail(errc::invalid_argument, "the scratch is too small",
                 std::to_string(given) + " bytes, but the scan needs " + std::to_string(needed),
                 "ask scan_scratch_bytes or scan_segments_scratch_bytes");
  }
}

// Where the host reads device memory, a breach of the contract is found; kernels on a GPU take it as it is.
void require_rising(const device& on, const std::int64_t* offsets, std::int64_t segments) {
  const auto& backend = on.properties().backend;
  if (backend != "cpu" && backend != "simt") return;
  for (std::int64_t i = 0; i < segments; ++i) {
    if (offsets[i] >= (i == 0 ? 0 : offsets[i - 1])) continue;
    detail::fail(errc::invalid_argument, i == 0 ? "the first offset is negative" : "offsets decrease",
                 "offset " + std::to_string(i) + " is " + std::to_string(offsets[i]), "sort them");
  }
}

void run(stream_ref stream, scan_args& args, void* scratch, std::size_t scratch_bytes) {
  require_memory(args);
  const std::size_t needed = detail::operations_of(stream.on()).scan.scratch(args);
  require_scratch(scratch, scratch_bytes, needed);
  if (needed > 0) {
    detail::require_scratch_apart(scratch, needed, args.in, span_bytes(args, args.in_ld), "in");
    detail::require_scratch_apart(scratch, needed, args.out, span_bytes(args, args.out_ld), "out");
  }
  args.scratch = scratch;
  detail::operations_of(stream.on()).scan.scan(detail::queue_of(stream), args);
}

}  // namespace

std::size_t scan_scratch_bytes(const device& on, element_type type, const scan_shape& shape,
                               const scan_options& options) {
  const auto args = args_of(type, shape, options);
  return is_empty(args) ? 0 : detail::operations_of(on).scan.scratch(args);
}

std::size_t scan_segments_scratch_bytes(const device& on, element_type type, std::int64_t count,
                                        const scan_options& options) {
  auto args = args_of(type, count, options);
  args.segments = 1;
  return is_empty(args) ? 0 : detail::operations_of(on).scan.scratch(args);
}

void scan_elements(stream_ref stream, const void* in, void* out, element_type type, const scan_shape& shape,
                   void* scratch, std::size_t scratch_bytes, const scan_options& options) {
  auto args = args_of(type, shape, options);
  if (is_empty(args)) return;
  args.in = in;
  args.out = out;
  run(stream, args, scratch, scratch_bytes);
}

void scan_segments_elements(stream_ref stream, const void* in, void* out, element_type type, std::int64_t count,
                            const std::int64_t* offsets, std::int64_t segments, void* scratch,
                            std::size_t scratch_bytes, const scan_options& options) {
  auto args = args_of(type, count, options);
  detail::require_extent(segments, "segments");
  if (is_empty(args)) return;
  if (segments > 0) {
    detail::require_pointer(offsets, "offsets");
    detail::require_aligned(offsets, alignof(std::int64_t), "offsets");
    const auto bytes = detail::checked_product(segments, sizeof *offsets, "segments");
    detail::require_disjoint(offsets, bytes, out, span_bytes(args, args.out_ld));
    require_rising(stream.on(), offsets, segments);
    args.offsets = offsets;
    args.segments = segments;
  }
  args.in = in;
  args.out = out;
  run(stream, args, scratch, scratch_bytes);
}

}  // namespace twill
