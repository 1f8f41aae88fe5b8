// Back-to-back operations in one stream, each on what earlier ones wrote. With programmatic dependent launch a kernel
// may start while the preceding one still runs, and must wait for its writes and for its reads.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/dice.hpp"

namespace {

using support::dice;

/// Random extents whose product is `count`: its prime factors, dealt at random.
std::vector<std::int64_t> random_extents(dice& d, std::int64_t count, int rank) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(rank), 1);
  for (const std::int64_t prime : {2, 3, 5, 7, 11, 13}) {
    for (; count % prime == 0; count /= prime) extents[static_cast<std::size_t>(d.pick(0, rank - 1))] *= prime;
  }
  return extents;
}

/// Three arrays of `count` elements, and scratch that all calls use.
template <class T>
struct chain {
  chain(const twill::device& device, std::int64_t n)
      : count(n),
        all(device, 3 * static_cast<std::size_t>(n)),
        scratch(device, std::size_t{8} << 20),
        cleared(device, std::size_t{8} << 20) {}

  T* array(std::int64_t i) { return all.data() + i % 3 * count; }

  /// An operation from one array to another or in place: the same for the same numbers of `d`.
  void call(dice& d, twill::stream_ref stream) {
    const std::int64_t from = d.pick(0, 2), kind = d.pick(0, 9);
    const T* const in = array(from);
    T* const out = array(from + d.pick(1, 2));
    if (kind == 0) return twill::reverse(stream, in, out, count);
    if (kind == 1) return twill::copy(stream, in, out, count);
    if (kind == 2) return twill::scan(stream, in, out, count, scratch);
    if (kind == 3) return twill::reduce(stream, in, out, count, cleared, {twill::reduce_op::max, true});
    if (kind == 4) return twill::fill(stream, out, in == array(0) ? T{7} : T{9}, count / 3);
    if (kind == 5) {
      const auto of3 = random_extents(d, count * static_cast<std::int64_t>(sizeof(T)) / 3, 2);
      return twill::transpose_bytes(stream, in, out, 3, {of3[0], of3[1]});
    }
    const auto extents = random_extents(d, count, kind < 9 ? 2 : static_cast<int>(d.pick(3, 5)));
    if (kind == 6) return twill::transpose(stream, in, out, {extents[0], extents[1]});
    if (kind == 7) return twill::transpose_in_place(stream, out, {extents[0], extents[1]}, scratch);
    if (kind == 8) {
      const twill::reduce_shape shape{extents[0], extents[1]};
      return twill::reduce_rows(stream, in, out, shape, scratch, {twill::reduce_op::max});
    }
    std::vector<std::int64_t> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(d.pick(0, static_cast<std::int64_t>(i)))]);
    }
    twill::permute_shape shape;
    shape.extents = twill::dims(extents.data(), extents.size());
    shape.order = twill::dims(order.data(), order.size());
    twill::permute(stream, in, out, shape);
  }

  std::int64_t count;
  twill::buffer<T> all;
  twill::raw_buffer scratch, cleared;  // of reductions that keep their tickets at zero
};

/// All arrays after `calls` calls, which nothing but the stream orders, or the host after each.
template <class T>
std::vector<T> after_calls(const twill::device& device, std::uint64_t seed, std::int64_t count, int calls, bool waits) {
  const twill::stream stream(device);
  chain<T> arrays(device, count);
  std::vector<T> host(arrays.all.size());
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<T>(i * 2654435761u >> 7);
  arrays.all.upload(host, stream);
  twill::fill_bytes(stream, arrays.cleared.data(), 0, arrays.cleared.size_bytes());
  stream.wait();
  dice d(seed);
  for (int i = 0; i < calls; ++i) {
    arrays.call(d, stream);
    if (waits) stream.wait();
  }
  arrays.all.download(host, stream);
  stream.wait();
  return host;
}

template <class T>
void compare_with_waits(const twill::device& device, std::int64_t count) {
  const bool fast = device.properties().is_gpu;
  const int calls = fast ? 60 : 12;
  for (std::uint64_t seed = 1; seed <= (fast ? 40u : 2u); ++seed) {
    CAPTURE(seed);
    REQUIRE(after_calls<T>(device, seed, count, calls, false) == after_calls<T>(device, seed, count, calls, true));
  }
}

}  // namespace

TEST_SUITE_BEGIN("launch order");

TEST_CASE("chained calls in a stream, as if the host waited after each") {
  support::on_each_device([](const twill::device& device) {
    compare_with_waits<std::uint8_t>(device, 2 * 3 * 5 * 7 * 11 * 13);
    compare_with_waits<std::uint32_t>(device, 16 * 3 * 5 * 7 * 11);
    compare_with_waits<std::uint64_t>(device, 64 * 9 * 25 * 7);
  });
}

TEST_SUITE_END();
