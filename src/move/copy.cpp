#include <twill/copy.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"

namespace twill {
namespace {

using detail::checked_product;
using detail::copy_direction;
using detail::pitched_rows;

std::int64_t explicit_pitch(std::int64_t given, std::int64_t cols, const char* what) {
  detail::require_extent(given, what);
  if (given == 0) return cols;
  if (given < cols) {
    detail::fail(errc::invalid_argument, std::string(what) + " is too small",
                 std::to_string(given) + ", but a row has " + std::to_string(cols) + " elements", "enlarge it");
  }
  return given;
}

std::int64_t span_bytes(const pitched_rows& a, std::int64_t pitch) {
  const std::int64_t to_last = checked_product(a.rows - 1, pitch, "the array");
  detail::require(to_last <= INT64_MAX - a.row_bytes, "the array overflows", "its bytes do not fit 63 bits",
                  "split it");
  return to_last + a.row_bytes;
}

// Rows side by side in one array lie between each other without meeting.
bool side_by_side(const pitched_rows& a) {
  if (a.in_pitch != a.out_pitch) return false;
  const auto pitch = static_cast<std::uintptr_t>(a.in_pitch), row = static_cast<std::uintptr_t>(a.row_bytes);
  const auto from = reinterpret_cast<std::uintptr_t>(a.in), to = reinterpret_cast<std::uintptr_t>(a.out);
  const std::uintptr_t apart = (from < to ? to - from : from - to) % pitch;
  return apart >= row && apart <= pitch - row;
}

// Everything checked and explicit, in bytes; no rows where nothing is to be copied.
pitched_rows checked_args(const void* in, void* out, std::int64_t element_bytes, const pitched_shape& s) {
  detail::require_extent(s.rows, "rows");
  detail::require_extent(s.cols, "cols");
  detail::require(element_bytes >= 1, "elements of no bytes", std::to_string(element_bytes) + " were given",
                  "use 1 or more");
  const std::int64_t in_pitch = explicit_pitch(s.in_pitch, s.cols, "in_pitch");
  const std::int64_t out_pitch = explicit_pitch(s.out_pitch, s.cols, "out_pitch");
  if (s.rows == 0 || s.cols == 0) return {in, out, 0, 0, 0, 0};
  pitched_rows a{in, out, s.rows, checked_product(s.cols, element_bytes, "cols"), 0, 0};
  // A pitch that nothing lies apart by could, as bytes, not fit.
  a.in_pitch = a.rows == 1 ? a.row_bytes : checked_product(in_pitch, element_bytes, "in_pitch");
  a.out_pitch = a.rows == 1 ? a.row_bytes : checked_product(out_pitch, element_bytes, "out_pitch");
  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  const std::int64_t in_bytes = span_bytes(a, a.in_pitch), out_bytes = span_bytes(a, a.out_pitch);
  if (!side_by_side(a)) detail::require_disjoint(in, in_bytes, out, out_bytes);
  if (a.in_pitch == a.row_bytes && a.out_pitch == a.row_bytes) {
    a.in_pitch = a.out_pitch = a.row_bytes *= a.rows;
    a.rows = 1;
  }
  return a;
}

// Drivers copy slowly what does not lie alike in words of 4 bytes on the two sides (tests/bench/NOTES.md).
bool apart_by_bytes(const pitched_rows& a) {
  return (reinterpret_cast<std::uintptr_t>(a.in) - reinterpret_cast<std::uintptr_t>(a.out)) % 4 != 0;
}

void copy_rows(stream_ref stream, const pitched_rows& a, copy_direction direction) {
  if (a.rows == 0) return;
  auto& device = *stream.on().impl();
  const bool within = direction == copy_direction::device_to_device;
  if (a.rows == 1 && !(within && apart_by_bytes(a))) {
    device.copy(stream.native(), a.out, a.in, static_cast<std::size_t>(a.row_bytes), direction);
  } else if (within) {
    detail::operations_of(stream.on()).move.copy(detail::queue_of(stream), a);
  } else {
    device.copy_rows(stream.native(), a, direction);
  }
}

}  // namespace

void copy_pitched_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                        const pitched_shape& shape) {
  copy_rows(stream, checked_args(in, out, element_bytes, shape), copy_direction::device_to_device);
}

void upload_pitched_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                          const pitched_shape& shape) {
  copy_rows(stream, checked_args(in, out, element_bytes, shape), copy_direction::host_to_device);
}

void download_pitched_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                            const pitched_shape& shape) {
  copy_rows(stream, checked_args(in, out, element_bytes, shape), copy_direction::device_to_host);
}

}  // namespace twill
