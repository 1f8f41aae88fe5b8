// More than 2^31 elements for each family of kernels: on GPUs with the memory for it. The elements are computed from
// their place, so that the host holds one side at a time; some millions of places are compared, the ends among them.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"

namespace {

constexpr std::int64_t array_bytes = (std::int64_t{9} << 29) + 4096;  // 4.5 GiB

unsigned char byte_at(std::int64_t place) {
  auto x = static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned char>((x ^ x >> 29) >> 32);
}

struct large_memory {
  twill::stream_ref stream;
  twill::raw_buffer in, out;
  std::vector<unsigned char> host;  // holds the input or the output
};

template <class F>
void on_each_large_gpu(F&& f) {
  support::on_each_stream([&](const twill::device& device, twill::stream_ref stream) {
    if (!device.properties().is_gpu || device.memory().free_bytes < 4 * array_bytes) return;
    const auto size = static_cast<std::size_t>(array_bytes);
    large_memory m{stream, {device, size}, {device, size}, std::vector<unsigned char>(size)};
    for (std::int64_t i = 0; i < array_bytes; ++i) m.host[i] = byte_at(i);
    twill::upload_bytes(stream, m.host.data(), m.in.data(), size);
    stream.wait();
    f(m);
  });
}

/// The byte of the input that should be at byte `place` of the output.
using origin = std::function<std::int64_t(std::int64_t place)>;

/// Compares places all over the first `bytes` of the output, and the byte behind them, with the input.
void check_output(large_memory& m, std::int64_t bytes, const origin& from) {
  twill::download_bytes(m.stream, m.out.data(), m.host.data(), m.host.size());
  m.stream.wait();
  std::int64_t wrong = 0, first_wrong = -1;
  const auto compare = [&](std::int64_t i) {
    if (m.host[i] == byte_at(from(i))) return;
    if (wrong++ == 0) first_wrong = i;
  };
  for (std::int64_t i = 0; i < bytes; i += 509) compare(i);
  for (std::int64_t i = bytes - 100000; i < bytes; ++i) compare(i);
  for (std::int64_t i = (std::int64_t{1} << 31) - 50000; i < std::min(bytes, (std::int64_t{1} << 31) + 50000); ++i) {
    compare(i);
  }
  CAPTURE(first_wrong);
  CHECK(wrong == 0);
  CHECK(m.host[bytes] == 0x5a);
}

void prepare(large_memory& m) {
  twill::fill_bytes(m.stream, m.out.data(), 0x5a, m.out.size_bytes());
}

/// A packed transpose of elements of `size` bytes, or one with a leading dimension of the input.
void check_transpose(large_memory& m, std::int64_t rows, std::int64_t cols, std::int64_t batch, std::int64_t size,
                     std::int64_t in_ld = 0, std::int64_t offset = 0) {
  CAPTURE(rows);
  CAPTURE(cols);
  CAPTURE(batch);
  CAPTURE(size);
  const std::int64_t ld = in_ld ? in_ld : cols, bytes = rows * cols * batch * size;
  REQUIRE(rows * ld * batch * size + offset <= array_bytes);
  REQUIRE(rows * cols * batch >= (std::int64_t{1} << 31) / (size > 1 ? size : 1));
  prepare(m);
  const auto* in = static_cast<const unsigned char*>(m.in.data()) + offset;
  // Elements of `size` bytes as an innermost dimension where no type has the size.
  twill::permute_shape shape{{batch, rows, cols, size}, {0, 2, 1, 3}, {rows * ld * size, ld * size, size, 1}, {}};
  if (size == 1) {
    twill::transpose(m.stream, in, static_cast<unsigned char*>(m.out.data()), {rows, cols, batch, in_ld});
  } else if (size == 4) {
    twill::transpose(m.stream, reinterpret_cast<const std::uint32_t*>(in), static_cast<std::uint32_t*>(m.out.data()),
                     {rows, cols, batch, in_ld});
  } else {
    twill::permute(m.stream, in, static_cast<unsigned char*>(m.out.data()), shape);
  }
  check_output(m, bytes, [&](std::int64_t place) {
    const std::int64_t element = place / size, matrix = element / (rows * cols), inside = element % (rows * cols);
    return offset + (matrix * rows * ld + inside % rows * ld + inside / rows) * size + place % size;
  });
}

}  // namespace

TEST_SUITE_BEGIN("beyond");

TEST_CASE("transposes beyond 2^31 elements: each family") {
  on_each_large_gpu([](large_memory& m) {
    check_transpose(m, 65536, 32784, 1, 1);            // tiles
    check_transpose(m, 46349, 46351, 1, 1, 46353, 1);  // misaligned rows
    check_transpose(m, 5, 429496736, 1, 1);            // few rows
    check_transpose(m, 429496736, 5, 1, 1);            // few columns
    check_transpose(m, 33, 65075277, 1, 1, 0, 1);      // rows staged
    check_transpose(m, 65075277, 33, 1, 1, 0, 1);      // columns staged
    check_transpose(m, 23, 31, 3012000, 1, 0, 1);      // small matrices
    check_transpose(m, 64, 64, 524300, 1);             // a batch of tiles
    check_transpose(m, 26759, 53510, 1, 3);            // elements of 3 bytes
    check_transpose(m, 32771, 32779, 1, 4, 0, 4);      // words
  });
}

TEST_CASE("a transpose of 2^31 elements of 2 bytes beyond 2^32 bytes") {
  on_each_large_gpu([](large_memory& m) {
    const std::int64_t rows = 46341, cols = 46343, bytes = 2 * rows * cols;
    REQUIRE(bytes < array_bytes);
    prepare(m);
    twill::transpose(m.stream, static_cast<const std::uint16_t*>(m.in.data()),
                     static_cast<std::uint16_t*>(m.out.data()), {rows, cols});
    check_output(m, bytes, [&](std::int64_t place) {
      const std::int64_t element = place / 2;
      return 2 * (element % rows * cols + element / rows) + place % 2;
    });
  });
}

TEST_CASE("permutations, reversal and copies beyond 2^31 elements") {
  on_each_large_gpu([](large_memory& m) {
    const auto* in = static_cast<const unsigned char*>(m.in.data());
    auto* out = static_cast<unsigned char*>(m.out.data());
    const std::int64_t a = 1301, b = 5, c = 3, d = 110101, all = a * b * c * d;
    REQUIRE(all > std::int64_t{1} << 31);
    prepare(m);
    twill::permute(m.stream, in, out, {{a, b, c, d}, {3, 2, 1, 0}, {}, {}});
    check_output(m, all,
                 [&](std::int64_t p) { return ((p % a * b + p / a % b) * c + p / a / b % c) * d + p / a / b / c; });
    prepare(m);
    twill::permute(m.stream, in, out, {{a, b * c, d}, {1, 0, 2}, {}, {}});  // rows
    check_output(m, all, [&](std::int64_t p) { return (p / d % a * b * c + p / d / a) * d + p % d; });
    for (const twill::permute_shape& s : {twill::permute_shape{{a, b, c, d}, {3, 2, 1, 0}, {}, {}},
                                          twill::permute_shape{{a, b, c, d}, {2, 1, 0, 3}, {}, {}}}) {
      const bool is_reversed = s.order[0] == 3;
      prepare(m);
      twill::permute_bytes_with(m.stream, "elementwise", in, out, 1, s);  // in several launches
      check_output(m, all, [&](std::int64_t p) {
        const std::int64_t run = is_reversed ? 1 : d, q = p / run;
        const std::int64_t first = q / a % b, second = q / a / b % c;
        return is_reversed ? ((q % a * b + first) * c + second) * d + q / a / b / c
                           : ((q % a * b + first) * c + second) * d + p % d;
      });
    }
    const std::int64_t row = (std::int64_t{1} << 27) + 1, row_bytes = 16 * row;  // more than 2^31 bytes
    REQUIRE(2 * row_bytes <= array_bytes);
    prepare(m);
    twill::permute_bytes_with(m.stream, "elementwise", in + row_bytes, out, 16, {{2, row}, {0, 1}, {-row, 1}, {}});
    check_output(m, 2 * row_bytes, [&](std::int64_t p) { return p < row_bytes ? p + row_bytes : p - row_bytes; });
    prepare(m);
    twill::reverse(m.stream, in + 1, out, all);
    check_output(m, all, [&](std::int64_t p) { return all - p; });
    prepare(m);
    twill::copy(m.stream, in + 3, out, all);
    check_output(m, all, [](std::int64_t p) { return p + 3; });
    prepare(m);
    twill::copy(m.stream, in, out, {all / 1000, 1000, 1003, 1000});
    check_output(m, all / 1000 * 1000, [](std::int64_t p) { return p / 1000 * 1003 + p % 1000; });
    prepare(m);
    const unsigned char value[] = {byte_at(0), byte_at(1), byte_at(2)};
    twill::fill_bytes(m.stream, out, value, 3, all / 3);
    check_output(m, all / 3 * 3, [](std::int64_t p) { return p % 3; });
  });
}

TEST_CASE("transposes in place beyond 2^31 elements") {
  on_each_large_gpu([](large_memory& m) {
    for (const std::int64_t rows : {46400, 46351, 33, 65075277}) {
      const std::int64_t cols = rows == 33 ? 65075277 : rows == 65075277 ? 33 : rows;
      CAPTURE(rows);
      prepare(m);
      const auto bytes = static_cast<std::size_t>(rows * cols);
      twill::copy_bytes(m.stream, m.in.data(), m.out.data(), bytes);
      const twill::transpose_in_place_shape shape{rows, cols};
      const twill::raw_buffer scratch(
          m.stream.on(), twill::transpose_in_place_scratch_bytes(m.stream.on(), 1, shape, twill::scratch_size::least));
      twill::transpose_in_place(m.stream, static_cast<unsigned char*>(m.out.data()), shape, scratch);
      check_output(m, rows * cols, [&](std::int64_t p) { return p % rows * cols + p / rows; });
    }
  });
}

TEST_CASE("scans and reductions beyond 2^31 elements") {
  on_each_large_gpu([](large_memory& m) {
    const std::int64_t count = (std::int64_t{1} << 31) + 12345;
    const auto* in = static_cast<const unsigned char*>(m.in.data());
    twill::scan_shape shape;
    shape.rows = 1;
    shape.cols = count;
    const twill::raw_buffer scratch(m.stream.on(),
                                    twill::scan_scratch_bytes(m.stream.on(), twill::element_type::u8, shape));
    prepare(m);
    twill::scan(m.stream, in + 1, static_cast<unsigned char*>(m.out.data()), shape, scratch);
    twill::download_bytes(m.stream, m.out.data(), m.host.data(), m.host.size());
    m.stream.wait();
    std::int64_t wrong = 0;
    unsigned char sum = 0;
    for (std::int64_t i = 0; i < count; ++i) wrong += m.host[i] != (sum += byte_at(i + 1));
    CHECK(wrong == 0);
    CHECK(m.host[count] == 0x5a);
    const twill::raw_buffer tickets(m.stream.on(), std::size_t{8} << 20);
    twill::reduce(m.stream, in + 1, static_cast<unsigned char*>(m.out.data()), count, tickets);
    unsigned char found = 0;
    twill::download_bytes(m.stream, m.out.data(), &found, 1);
    m.stream.wait();
    CHECK(found == sum);
  });
}

TEST_SUITE_END();
