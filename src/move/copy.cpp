#include <twill/copy.hpp>

#include <limits>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/permute_call.hpp"

namespace twill {
namespace {

using detail::checked_product;
using detail::copy_direction;
using detail::pitched_rows;

// Rows of one array beside those of another, with equal pitch: they interleave without overlapping.
bool side_by_side(const pitched_rows& a) {
  if (a.in_pitch != a.out_pitch) return false;
  const auto pitch = static_cast<std::uintptr_t>(a.in_pitch), row = static_cast<std::uintptr_t>(a.row_bytes);
  const auto from = reinterpret_cast<std::uintptr_t>(a.in), to = reinterpret_cast<std::uintptr_t>(a.out);
  const std::uintptr_t distance = (from < to ? to - from : from - to) % pitch;
  return distance >= row && distance <= pitch - row;
}

void require_memory(const void* pointer, bool on_host, const char* problem) {
  detail::require(pointer != nullptr, problem, "the shape is not empty",
                  on_host ? "pass host memory" : "pass device memory");
}

// Drivers copy slowly where in and out differ in alignment modulo 4 (docs: decisions).
bool differ_in_words(const pitched_rows& a) {
  return (reinterpret_cast<std::uintptr_t>(a.in) - reinterpret_cast<std::uintptr_t>(a.out)) % 4 != 0;
}

// Everything checked and explicit, in bytes; no rows where nothing is to be copied.
pitched_rows checked_args(const void* in, void* out, std::int64_t element_bytes, const copy_shape& s,
                          copy_direction direction) {
  const char* const cols = s.rows == 1 && s.in_ld == 0 && s.out_ld == 0 ? "the number of elements" : "cols";
  detail::require_extent(s.rows, "rows");
  detail::require_extent(s.cols, cols);
  detail::require_element_bytes(element_bytes, std::numeric_limits<std::int64_t>::max());
  const std::int64_t in_ld = detail::explicit_ld(s.in_ld, s.cols, "in_ld");
  const std::int64_t out_ld = detail::explicit_ld(s.out_ld, s.cols, "out_ld");
  if (s.rows == 0 || s.cols == 0) return {in, out, 0, 0, 0, 0};
  pitched_rows a{in, out, s.rows, checked_product(s.cols, element_bytes, cols), 0, 0};
  // The leading dimension of a single row means nothing; in bytes it might not fit.
  a.in_pitch = a.rows == 1 ? a.row_bytes : checked_product(in_ld, element_bytes, "in_ld");
  a.out_pitch = a.rows == 1 ? a.row_bytes : checked_product(out_ld, element_bytes, "out_ld");
  require_memory(in, direction == copy_direction::host_to_device, "in is null");
  require_memory(out, direction == copy_direction::device_to_host, "out is null");
  const auto span = [&](std::int64_t pitch) {
    return detail::checked_span(a.rows, pitch, a.row_bytes, "the array", "bytes");
  };
  const std::int64_t in_bytes = span(a.in_pitch), out_bytes = span(a.out_pitch);
  if (!side_by_side(a)) detail::require_disjoint({"in", in, in_bytes}, {"out", out, out_bytes});
  if (a.in_pitch == a.row_bytes && a.out_pitch == a.row_bytes) {
    a.in_pitch = a.out_pitch = a.row_bytes *= a.rows;
    a.rows = 1;
  }
  return a;
}

void copy_elements(const char* operation, stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                   const copy_shape& shape, copy_direction direction) {
  detail::in_call(operation, [&] {
    detail::device_of(stream);
    const pitched_rows rows = checked_args(in, out, element_bytes, shape, direction);
    if (rows.rows > 0) detail::copy_rows(stream, rows, direction);
  });
}

// So many bytes may not be an extent.
copy_shape row_of(const char* operation, std::size_t bytes) {
  return detail::in_call(operation, [&] { return copy_shape{1, detail::checked_bytes(bytes)}; });
}

}  // namespace

void copy_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const copy_shape& shape) {
  copy_elements("copy", stream, in, out, element_bytes, shape, copy_direction::device_to_device);
}

void upload_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const copy_shape& shape) {
  copy_elements("upload", stream, in, out, element_bytes, shape, copy_direction::host_to_device);
}

void download_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const copy_shape& shape) {
  copy_elements("download", stream, in, out, element_bytes, shape, copy_direction::device_to_host);
}

void copy_bytes(stream_ref stream, const void* in, void* out, std::size_t bytes) {
  copy_bytes(stream, in, out, 1, row_of("copy", bytes));
}

void upload_bytes(stream_ref stream, const void* in, void* out, std::size_t bytes) {
  upload_bytes(stream, in, out, 1, row_of("upload", bytes));
}

void download_bytes(stream_ref stream, const void* in, void* out, std::size_t bytes) {
  download_bytes(stream, in, out, 1, row_of("download", bytes));
}

void detail::copy_rows(stream_ref stream, const pitched_rows& a, copy_direction direction) {
  auto& device = device_of(stream);
  const bool within = direction == copy_direction::device_to_device;
  if (a.rows == 1 && !(within && differ_in_words(a))) {
    device.copy(stream.native(), a.out, a.in, static_cast<std::size_t>(a.row_bytes), direction);
  } else if (within) {
    operations_of(stream).move.copy(queue_of(stream), a);
  } else {
    device.copy_rows(stream.native(), a, direction);
  }
}

}  // namespace twill
