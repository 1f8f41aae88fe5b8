#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/reduce_reference.hpp"

namespace support {

/// Whether the bits are the same, those of NaN and of zeros, too.
template <class Out>
bool same(const Out& a, const Out& b) {
  return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(Out)) == 0;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  const void *left = a.data(), *right = b.data();
  return a.size() == b.size() && std::memcmp(left, right, a.size() * sizeof(T)) == 0;
}

/// Scratch memory that is enough for any shape, and full of ones.
inline twill::raw_buffer reduce_scratch_of(twill::stream_ref stream) {
  twill::raw_buffer scratch(stream.on(), std::size_t{8} << 20);
  twill::fill_bytes(stream, scratch.data(), 0xff, scratch.size_bytes());
  return scratch;
}

/// Calls f with a stream and scratch of each device.
template <class F>
void on_each_scratch(F&& f) {
  on_each_stream([&](const twill::device&, twill::stream_ref stream) {
    const twill::raw_buffer scratch = reduce_scratch_of(stream);
    f(stream, scratch);
  });
}

/// `run` is given as much scratch as it asked for, and writes no byte beyond it.
inline void check_scratch(twill::stream_ref stream, std::size_t bytes,
                          const std::function<void(twill::scratch_ref)>& run) {
  constexpr std::size_t guard = 4096;
  CAPTURE(bytes);
  CHECK(bytes <= std::size_t{8} << 20);
  const twill::raw_buffer memory(stream.on(), bytes + guard);
  twill::fill_bytes(stream, memory.data(), 0xa5, memory.size_bytes());
  run(bytes == 0 ? twill::scratch_ref{} : twill::scratch_ref{memory.data(), bytes});
  std::vector<unsigned char> after(guard);
  twill::download_bytes(stream, static_cast<const char*>(memory.data()) + bytes, after.data(), guard);
  stream.wait();
  CHECK(std::count(after.begin(), after.end(), 0xa5) == static_cast<std::ptrdiff_t>(guard));
}

/// Device memory with `misalignment` elements before the data, and results between guards.
template <class T, class Out>
struct arrays {
  arrays(twill::stream_ref s, const std::vector<T>& data, std::size_t misalignment, std::size_t count)
      : stream(s), in(s.on(), data.size() + misalignment + 1), out(s.on(), count + 2), guards(count + 2) {
    std::vector<T> padded(in.size());
    std::copy(data.begin(), data.end(), padded.begin() + static_cast<std::ptrdiff_t>(misalignment));
    in.upload(padded, stream);
    std::memset(static_cast<void*>(guards.data()), 0x5a, guards.size() * sizeof(Out));
    out.upload(guards, stream);
    first = in.data() + misalignment;
  }
  std::vector<Out> results() {
    std::vector<Out> found(guards.size());
    out.download(found, stream);
    stream.wait();
    CHECK(same(found.front(), guards.front()));
    CHECK(same(found.back(), guards.back()));
    return {found.begin() + 1, found.end() - 1};
  }
  Out* to() { return out.data() + 1; }

  twill::stream_ref stream;
  twill::buffer<T> in;
  twill::buffer<Out> out;
  std::vector<Out> guards;
  const T* first;
};

/// A number whose sums and products round.
template <class T>
T random_value(std::mt19937& random) {
  const float x = (static_cast<float>(random() % 20001) - 10000.0f) * 0x1p-13f;
  if constexpr (is_complex<T>) {
    return {x, x * 0.5f + 0.25f};
  } else {
    return T(x);
  }
}

}  // namespace support
