// Scans and reductions, with types, shapes, offsets and misalignments drawn from a fixed seed, against plain loops. How
// many: support/dice.hpp. Numbers are whole and few, so that results are exact in every type.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <twill/ladder/sieve.hpp>
#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/dice.hpp"
#include "support/image.hpp"
#include "support/reduce_reference.hpp"
#include "support/scan_reference.hpp"

namespace {

using support::dice;
using support::image;
using twill::stream_ref;

/// Elements between guards, `off` elements behind a multiple of 256 bytes.
template <class T>
class drawn_array {
 public:
  drawn_array(stream_ref stream, std::int64_t count, std::size_t off, dice& d)
      : bytes_(stream, static_cast<std::size_t>(count) * sizeof(T), off * sizeof(T), 1), values_(count) {
    for (T& x : values_) x = T(static_cast<float>(d.pick(0, 2)));
    std::copy(values_.begin(), values_.end(), reinterpret_cast<T*>(bytes_.expected()));
    if (count > 0) twill::upload_bytes(stream, bytes_.expected(), bytes_.data(), values_.size() * sizeof(T));
  }
  T* data() const { return static_cast<T*>(bytes_.data()); }
  const std::vector<T>& values() const { return values_; }

  /// Whether the memory holds `values`, and its guards what they held.
  bool holds(stream_ref stream, const std::vector<T>& values) {
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(bytes_.expected()));
    return bytes_.matches(stream);
  }

 private:
  image bytes_;
  std::vector<T> values_;
};

twill::scan_options draw_options(dice& d) {
  const auto op = static_cast<twill::scan_op>(d.pick(0, 2));
  const bool exclusive = d.one_in(2), two_passes = d.one_in(3);
  return {op, exclusive, two_passes};
}

/// A type's sums of 0 to 2 stay exact for so many elements; integers wrap around.
template <class T>
std::int64_t most_elements() {
  return support::is_half<T> ? (sizeof(T) == 2 && std::is_same_v<T, twill::bfloat16> ? 120 : 1000) : 40000;
}

template <class T>
void scan_rows(stream_ref stream, dice& d) {
  const std::int64_t cols = d.extent(most_elements<T>()), rows = d.one_in(2) ? 1 : d.extent(40000 / cols);
  const bool in_place = d.one_in(3);
  const std::int64_t in_ld = d.one_in(2) ? cols + d.pick(0, 20) : cols;
  const std::int64_t out_ld = in_place ? in_ld : d.one_in(2) ? cols + d.pick(0, 20) : cols;
  twill::scan_shape shape;
  shape.rows = rows, shape.cols = cols, shape.in_ld = in_ld, shape.out_ld = out_ld;
  const auto options = draw_options(d);
  const auto in_off = static_cast<std::size_t>(d.pick(0, 16)), out_off = static_cast<std::size_t>(d.pick(0, 16));
  INFO("scan ", twill::name(twill::element_type_of<T>), " ", rows, " x ", cols, " ld ", in_ld, " ", out_ld, " op ",
       static_cast<int>(options.op), options.exclusive, options.two_passes, " in place ", in_place, " off ", in_off,
       " ", out_off);
  drawn_array<T> in(stream, rows * in_ld, in_off, d), out(stream, rows * out_ld, out_off, d);
  std::vector<T> expected = in_place ? in.values() : out.values();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = in.values().begin() + r * in_ld;
    const auto scanned = support::scan_reference(std::vector<T>(row, row + cols), {}, options);
    std::copy(scanned.begin(), scanned.end(), expected.begin() + r * out_ld);
  }
  const twill::raw_buffer scratch(stream.on(),
                                  twill::scan_scratch_bytes(stream.on(), twill::element_type_of<T>, shape, options));
  drawn_array<T>& to = in_place ? in : out;
  const std::vector<T> before = in.values();
  twill::scan(stream, in.data(), to.data(), shape, scratch, options);
  CHECK(to.holds(stream, expected));
  if (!in_place) CHECK(in.holds(stream, before));
}

/// Offsets that never decrease, some equal, some behind the end; the first need not be 0.
std::vector<std::int64_t> draw_offsets(dice& d, std::int64_t count) {
  std::vector<std::int64_t> offsets;
  const std::int64_t step = d.one_in(2) ? 9 : 9000;
  for (std::int64_t at = d.pick(0, 5); at < count + 9; at += d.pick(0, step)) offsets.push_back(at);
  if (d.one_in(9)) offsets.clear();
  return offsets;
}

template <class T>
void scan_segments(stream_ref stream, dice& d) {
  const std::int64_t count = d.extent(most_elements<T>());
  const auto offsets = draw_offsets(d, count);
  const auto options = draw_options(d);
  const bool in_place = d.one_in(3);
  const auto in_off = static_cast<std::size_t>(d.pick(0, 16)), out_off = static_cast<std::size_t>(d.pick(0, 16));
  INFO("scan_segments ", twill::name(twill::element_type_of<T>), " ", count, " segments ", offsets.size(), " op ",
       static_cast<int>(options.op), options.exclusive, options.two_passes, " in place ", in_place, " off ", in_off,
       " ", out_off);
  drawn_array<T> in(stream, count, in_off, d), out(stream, count, out_off, d);
  const auto expected = support::scan_reference(in.values(), offsets, options);
  const twill::raw_buffer scratch(
      stream.on(),
      twill::scan_segments_scratch_bytes(stream.on(), twill::element_type_of<T>, count, offsets.size(), options));
  twill::buffer<std::int64_t> places(stream.on(), offsets.size() + 1);
  twill::upload_bytes(stream, offsets.data(), places.data(), offsets.size() * 8);
  drawn_array<T>& to = in_place ? in : out;
  twill::scan_segments(stream, in.data(), to.data(), count, places.data(), static_cast<std::int64_t>(offsets.size()),
                       scratch, options);
  CHECK(to.holds(stream, expected));
}

enum class reduction { array, rows, columns, segments };

/// One of the four reductions of T to Out.
template <class T, class Out>
void reduce_some(stream_ref stream, dice& d, const twill::raw_buffer& scratch, twill::reduce_op op) {
  const auto kind = static_cast<reduction>(d.pick(0, 3));
  const bool matrix = kind == reduction::rows || kind == reduction::columns;
  const std::int64_t cols = d.extent(most_elements<T>());
  const std::int64_t rows = matrix ? std::min(d.extent(40000 / cols), most_elements<T>()) : 1;
  const std::int64_t ld = rows > 1 && d.one_in(2) ? cols + d.pick(0, 20) : cols;
  twill::reduce_shape s;
  s.rows = rows, s.cols = cols, s.ld = ld;
  const auto off = static_cast<std::size_t>(d.pick(0, 16)), out_off = static_cast<std::size_t>(d.pick(0, 16));
  auto offsets = draw_offsets(d, cols);
  for (std::int64_t& at : offsets) at = std::min(at, cols);
  if (offsets.empty()) offsets.push_back(0);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  INFO("reduce ", static_cast<int>(kind), " ", twill::name(twill::element_type_of<T>), " op ", static_cast<int>(op),
       " ", rows, " x ", cols, " ld ", ld, " segments ", segments, " off ", off, " ", out_off);
  drawn_array<T> in(stream, rows * ld, off, d);
  const T* from = in.values().data();
  std::vector<Out> expected;
  if (kind == reduction::segments) {
    for (std::int64_t i = 0; i < segments; ++i) {
      expected.push_back(support::reduce_reference<T, Out>(op, from + offsets[i], offsets[i + 1] - offsets[i]));
    }
  } else if (kind == reduction::columns) {
    for (std::int64_t c = 0; c < cols; ++c) {
      std::vector<T> column;
      for (std::int64_t r = 0; r < rows; ++r) column.push_back(from[r * ld + c]);
      expected.push_back(support::reduce_reference<T, Out>(op, column.data(), rows));
    }
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      expected.push_back(support::reduce_reference<T, Out>(op, from + r * ld, cols));
    }
  }
  drawn_array<Out> out(stream, static_cast<std::int64_t>(expected.size()), out_off, d);
  twill::buffer<std::int64_t> places(stream.on(), offsets.size());
  places.upload(offsets, stream);
  if (kind == reduction::array) twill::reduce(stream, in.data(), out.data(), cols, scratch, {op});
  if (kind == reduction::rows) twill::reduce_rows(stream, in.data(), out.data(), s, scratch, {op});
  if (kind == reduction::columns) twill::reduce_columns(stream, in.data(), out.data(), s, scratch, {op});
  if (kind == reduction::segments && segments > 0) {
    twill::reduce_segments(stream, in.data(), out.data(), places.data(), segments, scratch, {op});
  }
  CHECK(out.holds(stream, expected));
}

template <class T>
void one_case(stream_ref stream, dice& d, const twill::raw_buffer& scratch) {
  using twill::reduce_op;
  switch (d.pick(0, 6)) {
    case 0:
    case 1:
      return scan_rows<T>(stream, d);
    case 2:
      return scan_segments<T>(stream, d);
    case 3:
      return reduce_some<T, std::int64_t>(stream, d, scratch, d.one_in(2) ? reduce_op::argmin : reduce_op::argmax);
    case 4:
      return reduce_some<T, std::uint8_t>(stream, d, scratch,
                                          static_cast<reduce_op>(d.pick(6, 8)));  // the logical ones
    default:
      return reduce_some<T, T>(stream, d, scratch,
                               d.one_in(2)   ? reduce_op::sum
                               : d.one_in(2) ? reduce_op::min
                                             : reduce_op::max);
  }
}

void run_random(stream_ref stream, std::uint64_t seed, int cases) {
  const twill::raw_buffer scratch(stream.on(), std::size_t{8} << 20);
  dice d(seed);
  for (int i = 0; i < cases; ++i) {
    switch (d.pick(0, 7)) {
      case 0:
        one_case<std::uint8_t>(stream, d, scratch);
        break;
      case 1:
        one_case<std::int16_t>(stream, d, scratch);
        break;
      case 2:
        one_case<std::int32_t>(stream, d, scratch);
        break;
      case 3:
        one_case<std::uint64_t>(stream, d, scratch);
        break;
      case 4:
        one_case<twill::float16>(stream, d, scratch);
        break;
      case 5:
        one_case<twill::bfloat16>(stream, d, scratch);
        break;
      case 6:
        one_case<double>(stream, d, scratch);
        break;
      default:
        one_case<float>(stream, d, scratch);
    }
  }
}

/// pi(n) for n below `end`, by the plainest of sieves.
std::vector<std::uint64_t> prime_counts(std::size_t end) {
  std::vector<char> composite(end);
  std::vector<std::uint64_t> below(end + 1);
  for (std::size_t n = 0; n < end; ++n) {
    below[n + 1] = below[n] + (n >= 2 && !composite[n] ? 1 : 0);
    for (std::size_t m = n * n; n >= 2 && !composite[n] && m < end; m += n) composite[m] = 1;
  }
  return below;
}

}  // namespace

TEST_SUITE_BEGIN("random sums");

TEST_CASE("reference: scans and reductions drawn from a fixed seed") {
  support::on_each_stream([](const twill::device&, stream_ref stream) {
    support::on_random_rounds(20261122, [&](std::uint64_t seed, int cases) { run_random(stream, seed, cases); });
  });
}

TEST_CASE("reference: ranges of a sieve drawn from a fixed seed") {
  const auto below = prime_counts(2000000);
  support::on_each_stream([&](const twill::device& device, stream_ref stream) {
    support::on_random_rounds(20261122, [&](std::uint64_t seed, int cases) {
      dice d(seed);
      for (int i = 0; i < cases / 10 + 1; ++i) {
        const std::int64_t first = 64 * (d.one_in(3) ? 0 : d.pick(0, 20000));
        const std::int64_t last = std::min<std::int64_t>(1999999, first + d.extent(1 << 16) * d.pick(1, 10));
        CAPTURE(first);
        CAPTURE(last);
        const twill::raw_buffer scratch(device, twill::sieve_scratch_bytes(device, {first, last}));
        const image count(stream, 8, static_cast<std::size_t>(8 * d.pick(0, 3)), 3);
        twill::sieve_count(stream, static_cast<std::uint64_t*>(count.data()), {first, last}, scratch);
        std::uint64_t found = 0;
        twill::download_bytes(stream, count.data(), &found, 8);
        CHECK(count.guards_match(stream));
        CHECK(found == below[static_cast<std::size_t>(last)] - below[static_cast<std::size_t>(first)]);
      }
    });
  });
}

TEST_CASE("segments whose offsets decrease: refused where the host reads them, empty on a GPU") {
  support::on_each_stream([](const twill::device& device, stream_ref stream) {
    const twill::raw_buffer scratch(stream.on(), std::size_t{8} << 20);
    twill::buffer<int> in(device, 8), out(device, 3);
    twill::buffer<std::int64_t> offsets(device, 4);
    in.upload(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}, stream);
    offsets.upload(std::vector<std::int64_t>{0, 5, 3, 8}, stream);
    const auto reduce = [&] { twill::reduce_segments(stream, in.data(), out.data(), offsets.data(), 3, scratch); };
    if (!device.properties().is_gpu) {
      CHECK(support::code_of(reduce) == twill::errc::invalid_argument);
      return;
    }
    reduce();
    std::vector<int> found(3);
    out.download(found, stream);
    stream.wait();
    CHECK(found == std::vector<int>{15, 0, 30});
  });
}

TEST_SUITE_END();
