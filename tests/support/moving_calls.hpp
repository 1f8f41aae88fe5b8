#pragma once

// Calls of the operations that move data, with the plain loops beside them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/arena.hpp"
#include "support/permute_reference.hpp"
#include "support/transpose_in_place_reference.hpp"
#include "support/transpose_reference.hpp"

namespace support {

template <class... Values>
std::string text_of(const Values&... values) {
  std::ostringstream text;
  ((text << values << ' '), ...);
  return text.str();
}

inline std::string text_of(const twill::dims& list) {
  std::string text = "{";
  for (const std::int64_t each : list) text += " " + std::to_string(each);
  return text + " }";
}

inline drawn_call transpose_call(const twill::transpose_shape& s, std::int64_t bytes, std::size_t in_offset,
                                 std::size_t out_offset) {
  const auto span = [&](std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride) {
    if (s.batch == 0) return std::size_t{0};
    const std::int64_t pitch = ld ? ld : cols, batch_stride = stride ? stride : rows * pitch;
    return static_cast<std::size_t>(((s.batch - 1) * batch_stride + (rows - 1) * pitch + cols) * bytes);
  };
  drawn_call call;
  call.in_bytes = span(s.rows, s.cols, s.in_ld, s.in_stride);
  call.out_bytes = span(s.cols, s.rows, s.out_ld, s.out_stride);
  call.in_offset = in_offset;
  call.out_offset = out_offset;
  call.text = text_of("transpose", s.rows, "x", s.cols, "batch", s.batch, "ld", s.in_ld, s.out_ld, "stride",
                      s.in_stride, s.out_stride, "bytes", bytes, "offsets", in_offset, out_offset);
  call.run = [=](twill::stream_ref stream, const unsigned char* in, unsigned char* out, unsigned char*) {
    twill::transpose_bytes(stream, in, out, bytes, s);
  };
  call.expect = [=](const unsigned char* in, unsigned char* out) { transpose_reference(in, out, bytes, s); };
  return call;
}

inline drawn_call transpose_in_place_call(const twill::transpose_in_place_shape& s, std::int64_t bytes,
                                          std::size_t offset, std::size_t scratch_offset, std::size_t scratch_bytes) {
  drawn_call call;
  call.out_bytes = static_cast<std::size_t>(elements_of(s) * bytes);
  call.out_offset = offset;
  call.scratch_offset = scratch_offset;
  call.scratch_bytes = scratch_bytes;
  call.text = text_of("transpose_in_place", s.rows, "x", s.cols, "batch", s.batch, "ld", s.ld, "stride", s.stride,
                      "bytes", bytes, "offsets", offset, scratch_offset, "scratch", scratch_bytes);
  call.run = [=](twill::stream_ref stream, const unsigned char*, unsigned char* data, unsigned char* scratch) {
    twill::transpose_in_place_bytes(stream, data, bytes, s, {scratch, scratch_bytes});
  };
  call.expect = [=](const unsigned char*, unsigned char* data) { transpose_in_place_reference(data, bytes, s); };
  return call;
}

/// Stands for the nth kernel of transposed matrices that applies.
inline const std::string matrix_kernel = "of matrices ";

/// Those that apply, by their cost.
inline std::vector<std::string> matrix_kernels_of(const twill::device& on, const void* in, const void* out,
                                                  std::int64_t bytes, const twill::permute_shape& s) {
  const std::set<std::string> others{"misaligned", "rows", "gather", "elementwise"};
  std::vector<std::string> names;
  for (const auto& one : twill::explain_permute(on, bytes, s, in, out)) {
    if (others.count(one.kernel) == 0) names.push_back(one.kernel);
  }
  return names;
}

/// Moves a transpose by the nth of them, or where there are fewer as the planner chooses.
inline void permute_by_matrix_kernel(twill::stream_ref stream, const void* in, void* out, std::int64_t bytes,
                                     const twill::permute_shape& s, std::size_t n) {
  const auto names = matrix_kernels_of(stream.on(), in, out, bytes, s);
  if (n < names.size()) return twill::permute_bytes_with(stream, names[n], in, out, bytes, s);
  twill::permute_bytes(stream, in, out, bytes, s);
}

inline drawn_call permute_call(const twill::permute_shape& s, std::int64_t bytes, std::size_t in_offset,
                               std::size_t out_offset, const std::string& kernel = "") {
  twill::permute_shape full = s;
  if (s.in_strides.size() == 0) full.in_strides = packed_strides(s.extents);
  if (s.out_strides.size() == 0) full.out_strides = packed_strides(out_extents(s));
  const array_reach in = reach_of(s.extents, full.in_strides, bytes);
  const array_reach out = reach_of(out_extents(s), full.out_strides, bytes);
  drawn_call call;
  call.in_bytes = static_cast<std::size_t>(in.before + in.after);
  call.out_bytes = static_cast<std::size_t>(out.before + out.after);
  call.in_offset = in_offset;
  call.out_offset = out_offset;
  call.text = text_of("permute", text_of(s.extents), "order", text_of(s.order), "strides", text_of(s.in_strides),
                      text_of(s.out_strides), "bytes", bytes, "offsets", in_offset, out_offset, kernel);
  call.run = [=](twill::stream_ref stream, const unsigned char* from, unsigned char* to, unsigned char*) {
    if (kernel.empty() || stream.on().properties().backend == "cpu") {  // the CPU has no kernels to choose among
      twill::permute_bytes(stream, from + in.before, to + out.before, bytes, s);
    } else if (kernel.rfind(matrix_kernel, 0) == 0) {
      const std::size_t n = std::stoul(kernel.substr(matrix_kernel.size()));
      permute_by_matrix_kernel(stream, from + in.before, to + out.before, bytes, s, n);
    } else {
      twill::permute_bytes_with(stream, kernel, from + in.before, to + out.before, bytes, s);
    }
  };
  call.expect = [=](const unsigned char* from, unsigned char* to) {
    permute_reference(from + in.before, to + out.before, bytes, full);
  };
  return call;
}

inline drawn_call copy_call(const twill::copy_shape& s, std::int64_t bytes, std::size_t in_offset,
                            std::size_t out_offset) {
  const std::int64_t in_ld = s.in_ld ? s.in_ld : s.cols, out_ld = s.out_ld ? s.out_ld : s.cols;
  drawn_call call;
  call.in_bytes = static_cast<std::size_t>(((s.rows - 1) * in_ld + s.cols) * bytes);
  call.out_bytes = static_cast<std::size_t>(((s.rows - 1) * out_ld + s.cols) * bytes);
  call.in_offset = in_offset;
  call.out_offset = out_offset;
  call.text = text_of("copy", s.rows, "x", s.cols, "pitch", s.in_ld, s.out_ld, "bytes", bytes, "offsets", in_offset,
                      out_offset);
  call.run = [=](twill::stream_ref stream, const unsigned char* in, unsigned char* out, unsigned char*) {
    twill::copy_bytes(stream, in, out, bytes, s);
  };
  call.expect = [=](const unsigned char* in, unsigned char* out) {
    for (std::int64_t row = 0; row < s.rows; ++row) {
      std::memcpy(out + row * out_ld * bytes, in + row * in_ld * bytes, static_cast<std::size_t>(s.cols * bytes));
    }
  };
  return call;
}

inline drawn_call reverse_call(std::int64_t count, std::int64_t bytes, bool in_place, std::size_t in_offset,
                               std::size_t out_offset) {
  const auto size = static_cast<std::size_t>(bytes);
  drawn_call call;
  call.out_bytes = static_cast<std::size_t>(count) * size;
  call.in_bytes = in_place ? 0 : call.out_bytes;
  call.in_offset = in_offset;
  call.out_offset = out_offset;
  call.text =
      text_of(in_place ? "reverse_in_place" : "reverse", count, "bytes", bytes, "offsets", in_offset, out_offset);
  call.run = [=](twill::stream_ref stream, const unsigned char* in, unsigned char* out, unsigned char*) {
    if (in_place) return twill::reverse_in_place_bytes(stream, out, bytes, count);
    twill::reverse_bytes(stream, in, out, bytes, count);
  };
  call.expect = [=](const unsigned char* in, unsigned char* out) {
    const unsigned char* from = in_place ? out : in;
    const std::vector<unsigned char> before(from, from + static_cast<std::size_t>(count) * size);
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(out + i * bytes, before.data() + (count - 1 - i) * bytes, size);
    }
  };
  return call;
}

}  // namespace support
