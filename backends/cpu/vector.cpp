// Compiled once for each instruction set by Highway's foreach_target; the last section chooses among them. Only the
// headers of Highway are used: an application needs no library of it.

#include "vector.hpp"

#include <cstring>

// Its checks in builds without optimisation would call its library.
#define HWY_IS_DEBUG_BUILD 0
// What `vectors` below does not choose is not compiled.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "backends/cpu/vector.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace twill::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of unknown length cannot be kept in arrays: those targets use their 16-byte ones.
constexpr std::size_t vector_bytes = HWY_HAVE_SCALABLE || HWY_MAX_BYTES < 16 ? 16
                                     : HWY_MAX_BYTES > 64                    ? 64
                                                                             : HWY_MAX_BYTES;
using bytes_tag = hn::FixedTag<std::uint8_t, vector_bytes>;

void stream(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  const bytes_tag d;
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % vector_bytes;
  if (bytes < head + vector_bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return;
  }
  if (head > 0) std::memcpy(to, from, head);
  std::size_t i = head;
  for (; i + 4 * vector_bytes <= bytes; i += 4 * vector_bytes) {
    const auto a = hn::LoadU(d, from + i), b = hn::LoadU(d, from + i + vector_bytes);
    const auto c = hn::LoadU(d, from + i + 2 * vector_bytes), e = hn::LoadU(d, from + i + 3 * vector_bytes);
    hn::Stream(a, d, to + i);
    hn::Stream(b, d, to + i + vector_bytes);
    hn::Stream(c, d, to + i + 2 * vector_bytes);
    hn::Stream(e, d, to + i + 3 * vector_bytes);
  }
  for (; i + vector_bytes <= bytes; i += vector_bytes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  if (i < bytes) std::memcpy(to + i, from + i, bytes - i);
}

// The elements of each block of 16 bytes change places, and then the blocks.
template <int Bytes>
void reverse_streamed(const unsigned char* end, unsigned char* to, std::int64_t bytes) {
  const bytes_tag d;
  alignas(16) std::uint8_t places[16];
  for (int i = 0; i < 16; ++i) places[i] = static_cast<std::uint8_t>(16 - Bytes - i / Bytes * Bytes + i % Bytes);
  const auto reversal = hn::LoadDup128(d, places);
  constexpr auto step = static_cast<std::int64_t>(vector_bytes);
  for (std::int64_t i = 0; i < bytes; i += step) {
    hn::Stream(hn::ReverseBlocks(d, hn::TableLookupBytes(hn::LoadU(d, end - i - step), reversal)), d, to + i);
  }
}

void fence() {
  hwy::FlushStream();
}

// 16 bytes from each of as many rows as the vector has blocks of 16 bytes, at a stride of `stride` bytes.
template <class D>
hn::Vec<D> load_blocks(D d, const unsigned char* from, std::int64_t stride) {
  constexpr std::int64_t blocks = hn::MaxLanes(D()) / 16;
  if constexpr (blocks == 1) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + blocks / 2 * stride, stride), load_blocks(half, from, stride));
  }
}

// Block b of vector i holds row b * R + i of R = 16 / Bytes columns. log2(R) rounds that interleave the first half of
// the vectors with the second transpose the R x R elements of every block: vector i becomes column i, whole.
template <int Bytes, class D>
HWY_INLINE void interleave_rounds(D d, hn::Vec<D>* v) {
  constexpr int edge = 16 / Bytes;
  const hn::Repartition<hwy::UnsignedFromSize<Bytes == 16 ? 8 : Bytes>, D> elements;
  hn::Vec<D> w[edge];
  for (int round = 1; round < edge; round *= 2) {
    for (int i = 0; i < edge / 2; ++i) {
      const auto a = hn::BitCast(elements, v[i]), b = hn::BitCast(elements, v[i + edge / 2]);
      w[2 * i] = hn::BitCast(d, hn::InterleaveLower(elements, a, b));
      w[2 * i + 1] = hn::BitCast(d, hn::InterleaveUpper(elements, a, b));
    }
    for (int i = 0; i < edge; ++i) v[i] = w[i];
  }
}

template <int Bytes, class D, bool Streamed>
HWY_INLINE void transpose_block(D d, const unsigned char* in, std::int64_t in_ld, unsigned char* out,
                                std::int64_t out_ld) {
  constexpr int edge = 16 / Bytes;
  hn::Vec<D> v[edge];
  for (int i = 0; i < edge; ++i) v[i] = load_blocks(d, in + i * in_ld, edge * in_ld);
  interleave_rounds<Bytes>(d, v);
  for (int i = 0; i < edge; ++i) {
    if (Streamed) {
      hn::Stream(v[i], d, out + i * out_ld);
    } else {
      hn::StoreU(v[i], d, out + i * out_ld);
    }
  }
}

// As load_blocks, of rows every `step` of a table of offsets.
template <class D>
hn::Vec<D> load_offsets(D d, const unsigned char* from, const std::int64_t* offsets, std::int64_t step) {
  constexpr std::int64_t blocks = hn::MaxLanes(D()) / 16;
  if constexpr (blocks == 1) {
    return hn::LoadU(d, from + *offsets);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_offsets(half, from, offsets + blocks / 2 * step, step),
                       load_offsets(half, from, offsets, step));
  }
}

// All columns of as many rows as a vector of D takes.
template <int Bytes, class D>
HWY_INLINE void transpose_offset_rows(D d, const vector_block& t, std::int64_t row) {
  constexpr std::int64_t edge = 16 / Bytes;
  unsigned char* const out = t.out + row * Bytes;
  for (std::int64_t c = 0; c < t.cols; c += edge) {
    const std::int64_t col = c + edge <= t.cols ? c : t.cols - edge;
    hn::Vec<D> v[edge];
    for (int i = 0; i < edge; ++i) v[i] = load_offsets(d, t.in + col * Bytes, t.row_offsets + row + i, edge);
    interleave_rounds<Bytes>(d, v);
    for (int i = 0; i < edge; ++i) hn::StoreU(v[i], d, out + t.col_offsets[col + i]);
  }
}

template <int Bytes>
void transpose_offsets(const vector_block& t) {
  constexpr std::int64_t edge = 16 / Bytes, step = vector_bytes / Bytes;
  const hn::FixedTag<std::uint8_t, 16> narrow;
  std::int64_t row = 0;
  for (; row + step <= t.rows; row += step) transpose_offset_rows<Bytes>(bytes_tag(), t, row);
  for (; row + edge <= t.rows; row += edge) transpose_offset_rows<Bytes>(narrow, t, row);
  if (row < t.rows) transpose_offset_rows<Bytes>(narrow, t, t.rows - edge);
}

// All columns of as many rows as a vector of D takes. The last block reaches back where the columns do not divide.
template <int Bytes, class D, bool Streamed>
HWY_INLINE void transpose_rows(D d, const vector_tile& t, std::int64_t row) {
  constexpr std::int64_t edge = 16 / Bytes;
  const unsigned char* in = t.in + row * t.in_ld;
  unsigned char* out = t.out + row * Bytes;
  for (std::int64_t c = 0; c < t.cols; c += edge) {
    const std::int64_t col = c + edge <= t.cols ? c : t.cols - edge;
    transpose_block<Bytes, D, Streamed>(d, in + col * Bytes, t.in_ld, out + col * t.out_ld, t.out_ld);
  }
}

template <int Bytes>
void transpose_any(const vector_tile& t) {
  constexpr std::int64_t edge = 16 / Bytes, step = vector_bytes / Bytes;
  const hn::FixedTag<std::uint8_t, 16> narrow;
  std::int64_t row = 0;
  for (; row + step <= t.rows; row += step) transpose_rows<Bytes, bytes_tag, false>(bytes_tag(), t, row);
  for (; row + edge <= t.rows; row += edge) transpose_rows<Bytes, decltype(narrow), false>(narrow, t, row);
  if (row < t.rows) transpose_rows<Bytes, decltype(narrow), false>(narrow, t, t.rows - edge);
}

// Prefetches `rows` rows of `lines` lines into the second-level cache, as many lines a call as `now` says.
class tile_prefetch {
 public:
  HWY_INLINE tile_prefetch(const unsigned char* at, std::int64_t ld, std::int64_t rows, std::int64_t lines)
      : at_(at), ld_(ld), rows_(at == nullptr ? 0 : rows), lines_(lines) {}
  HWY_INLINE void step(std::int64_t now) {
    for (; now > 0 && rows_ > 0; --now) {
      __builtin_prefetch(at_ + line_ * line_bytes, 0, 2);
      if (++line_ < lines_) continue;
      line_ = 0;
      at_ += ld_;
      --rows_;
    }
  }

 private:
  const unsigned char* at_;
  std::int64_t ld_, rows_, lines_, line_ = 0;
};

// Lines of output rows, so that each goes out in one piece; each that leaves makes room for one of the next tile.
template <int Bytes>
void transpose_lines(const vector_tile& t, const unsigned char* next, std::int64_t next_ld) {
  constexpr std::int64_t edge = 16 / Bytes, line_rows = line_bytes / Bytes, step = vector_bytes / Bytes;
  tile_prefetch prefetch(next, next_ld, t.rows, (t.cols * Bytes + line_bytes - 1) / line_bytes);
  for (std::int64_t col = 0; col < t.cols; col += edge) {
    for (std::int64_t row = 0; row < t.rows; row += line_rows) {
      prefetch.step(edge);
      for (std::int64_t r = row; r < row + line_rows; r += step) {
        transpose_block<Bytes, bytes_tag, true>(bytes_tag(), t.in + r * t.in_ld + col * Bytes, t.in_ld,
                                                t.out + col * t.out_ld + r * Bytes, t.out_ld);
      }
    }
  }
}

// Rows at a stride of a power of two share few places of the first-level cache: far ones come through a buffer.
template <int Bytes>
void transpose_streamed(const vector_tile& t, const unsigned char* next) {
  if (t.in_ld <= streamed_tile_width) return transpose_lines<Bytes>(t, nullptr, 0);
  constexpr std::int64_t pitch = streamed_tile_width + line_bytes;
  alignas(line_bytes) unsigned char buffer[streamed_tile_rows * pitch];
  const std::int64_t width = t.cols * Bytes;
  const bytes_tag d;
  for (std::int64_t row = 0; row < t.rows; ++row) {
    const unsigned char* from = t.in + row * t.in_ld;
    unsigned char* to = buffer + row * pitch;
    std::int64_t at = 0;
    for (; at + std::int64_t{vector_bytes} <= width; at += vector_bytes) hn::Store(hn::LoadU(d, from + at), d, to + at);
    if (at < width) std::memcpy(to + at, from + at, static_cast<std::size_t>(width - at));
  }
  transpose_lines<Bytes>({buffer, t.out, pitch, t.out_ld, t.rows, t.cols}, next, t.in_ld);
}

// Rows of two, three or four elements to columns, and back. What does not fill a vector goes one by one.
template <class T>
void split(const vector_tile& t) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t size = sizeof(T);
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t row = 0;
  for (; row + step <= t.rows; row += step) {
    const T* in = reinterpret_cast<const T*>(t.in + row * t.cols * size);
    hn::Vec<decltype(d)> v0, v1, v2 = hn::Zero(d), v3 = v2;
    if (t.cols == 2) hn::LoadInterleaved2(d, in, v0, v1);
    if (t.cols == 3) hn::LoadInterleaved3(d, in, v0, v1, v2);
    if (t.cols == 4) hn::LoadInterleaved4(d, in, v0, v1, v2, v3);
    unsigned char* out = t.out + row * size;
    hn::StoreU(v0, d, reinterpret_cast<T*>(out));
    hn::StoreU(v1, d, reinterpret_cast<T*>(out + t.out_ld));
    if (t.cols > 2) hn::StoreU(v2, d, reinterpret_cast<T*>(out + 2 * t.out_ld));
    if (t.cols > 3) hn::StoreU(v3, d, reinterpret_cast<T*>(out + 3 * t.out_ld));
  }
  for (; row < t.rows; ++row) {
    for (std::int64_t col = 0; col < t.cols; ++col) {
      std::memcpy(t.out + col * t.out_ld + row * size, t.in + (row * t.cols + col) * size, size);
    }
  }
}

template <class T>
void join(const vector_tile& t) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t size = sizeof(T);
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t col = 0;
  for (; col + step <= t.cols; col += step) {
    const auto load = [&](std::int64_t row) {
      return hn::LoadU(d, reinterpret_cast<const T*>(t.in + row * t.in_ld + col * size));
    };
    T* out = reinterpret_cast<T*>(t.out + col * t.rows * size);
    if (t.rows == 2) hn::StoreInterleaved2(load(0), load(1), d, out);
    if (t.rows == 3) hn::StoreInterleaved3(load(0), load(1), load(2), d, out);
    if (t.rows == 4) hn::StoreInterleaved4(load(0), load(1), load(2), load(3), d, out);
  }
  for (; col < t.cols; ++col) {
    for (std::int64_t row = 0; row < t.rows; ++row) {
      std::memcpy(t.out + (col * t.rows + row) * size, t.in + row * t.in_ld + col * size, size);
    }
  }
}

#include "vector_reduce-inl.hpp"
#include "vector_scan-inl.hpp"

}  // namespace

const vector_functions* functions() {
  static const vector_functions all = {
      hwy::TargetName(HWY_TARGET),
      &stream,
      {&reverse_streamed<1>, &reverse_streamed<2>, &reverse_streamed<4>, &reverse_streamed<8>, &reverse_streamed<16>},
      {&transpose_any<1>, &transpose_any<2>, &transpose_any<4>, &transpose_any<8>, &transpose_any<16>},
      {&transpose_streamed<1>, &transpose_streamed<2>, &transpose_streamed<4>, &transpose_streamed<8>,
       &transpose_streamed<16>},
      {&transpose_offsets<1>, &transpose_offsets<2>, &transpose_offsets<4>, &transpose_offsets<8>,
       &transpose_offsets<16>},
      {&split<std::uint8_t>, &split<std::uint16_t>, &split<std::uint32_t>, &split<std::uint64_t>},
      {&join<std::uint8_t>, &join<std::uint16_t>, &join<std::uint32_t>, &join<std::uint64_t>},
      {&scan_vectors<std::uint8_t>::sum, &scan_vectors<std::uint16_t>::sum, &scan_vectors<std::uint32_t>::sum,
       &scan_vectors<std::uint64_t>::sum, &scan_vectors<float>::sum, &scan_vectors<double>::sum},
      {&scan_vectors<std::uint8_t>::scan, &scan_vectors<std::uint16_t>::scan, &scan_vectors<std::uint32_t>::scan,
       &scan_vectors<std::uint64_t>::scan, &scan_vectors<float>::scan, &scan_vectors<double>::scan},
      &fence,
      reductions};
  return &all;
}

}  // namespace twill::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET

#if HWY_ONCE
namespace twill::cpu {

const vector_functions* vectors() {
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX3
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    return N_AVX3::functions();
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  // Conversions of halves came before these; not every compiler can ask for them.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
    return N_AVX2::functions();
  }
#endif
#endif
#if HWY_STATIC_TARGET != HWY_SCALAR
  return HWY_STATIC_DISPATCH(functions)();
#else
  return nullptr;
#endif
}

}  // namespace twill::cpu
#endif  // HWY_ONCE
