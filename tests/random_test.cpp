// Operations that move data, with shapes, strides, element sizes and misalignments drawn from a fixed seed, against
// plain loops. How many: support/dice.hpp. Each device gets them all.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/arena.hpp"
#include "support/devices.hpp"
#include "support/dice.hpp"
#include "support/moving_calls.hpp"

namespace {

using support::dice;
using support::drawn_call;

constexpr std::size_t arena_bytes = std::size_t{8} << 20;

drawn_call draw_transpose(dice& d) {
  const std::int64_t bytes = d.element_bytes(), most = std::max<std::int64_t>(1, d.budget() / bytes);
  twill::transpose_shape s;
  s.rows = d.extent(most);
  s.cols = d.extent(most / s.rows);
  if (d.one_in(2)) std::swap(s.rows, s.cols);
  s.batch = d.one_in(3) ? d.pick(0, std::min<std::int64_t>(300, most / (s.rows * s.cols))) : 1;
  s.in_ld = d.leading(s.cols);
  s.out_ld = d.leading(s.rows);
  const std::int64_t in_ld = s.in_ld ? s.in_ld : s.cols, out_ld = s.out_ld ? s.out_ld : s.rows;
  if (d.one_in(3)) s.in_stride = s.rows * in_ld + d.pick(0, 40);
  if (d.one_in(3)) s.out_stride = s.cols * out_ld + d.pick(0, 40);
  if (d.one_in(12) && s.batch > 1 && s.batch * s.cols * s.rows < most) {  // side by side
    s.in_ld = s.batch * s.cols + d.pick(0, 9);
    s.in_stride = s.cols;
  }
  if (d.one_in(12) && s.batch > 1 && s.batch * s.cols * s.rows < most) {
    s.out_ld = s.batch * s.rows + d.pick(0, 9);
    s.out_stride = s.rows;
  }
  const std::size_t in_offset = d.offset(), out_offset = d.offset();
  return support::transpose_call(s, bytes, in_offset, out_offset);
}

drawn_call draw_transpose_in_place(dice& d) {
  const std::int64_t bytes = d.element_bytes(), most = std::max<std::int64_t>(1, d.budget() / bytes);
  twill::transpose_in_place_shape s;
  s.rows = d.extent(most);
  s.cols = d.extent(most / s.rows);
  if (d.one_in(2)) std::swap(s.rows, s.cols);
  if (d.one_in(2)) {
    while (s.rows * s.rows > most) s.rows = s.rows / 2;
    s.cols = s.rows;
    s.ld = d.leading(s.cols);
  }
  s.batch = d.one_in(3) ? d.pick(0, std::min<std::int64_t>(300, most / (s.rows * s.cols))) : 1;
  if (d.one_in(3)) s.stride = s.rows * (s.ld ? s.ld : s.cols) + d.pick(0, 40);
  const std::size_t offset = d.offset(), scratch_offset = d.offset();
  const auto least = twill::transpose_in_place_scratch_bytes(twill::device(), bytes, s, twill::scratch_size::least);
  const auto fast = twill::transpose_in_place_scratch_bytes(twill::device(), bytes, s, twill::scratch_size::fast);
  std::size_t scratch_bytes = 0;
  if (least > 0) {
    const auto between = static_cast<std::size_t>(
        d.pick(static_cast<std::int64_t>(least), static_cast<std::int64_t>(std::max(least, fast))));
    scratch_bytes = d.one_in(3) ? least : d.one_in(2) ? fast : between;
  }
  return support::transpose_in_place_call(s, bytes, offset, scratch_offset, scratch_bytes);
}

/// Strides of dimensions that lie in each other in any order, some with gaps, some backwards.
twill::dims draw_strides(dice& d, const twill::dims& extents) {
  const int rank = extents.size();
  std::vector<int> nested(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) nested[static_cast<std::size_t>(i)] = rank - 1 - i;
  if (d.one_in(4)) std::swap(nested[static_cast<std::size_t>(d.pick(0, rank - 1))], nested[0]);
  std::int64_t strides[8] = {}, next = d.one_in(6) ? 2 : 1;
  for (const int i : nested) {
    strides[i] = d.one_in(6) ? -next : next;
    next = next * std::max<std::int64_t>(1, extents[i]) + (d.one_in(4) ? d.pick(0, 9) : 0);
  }
  return {strides, static_cast<std::size_t>(rank)};
}

drawn_call draw_permute(dice& d) {
  const std::int64_t bytes = d.one_in(2) ? std::int64_t{1} << d.pick(0, 4) : d.pick(1, 16);
  const int rank = static_cast<int>(d.pick(1, 8));
  std::int64_t extents[8] = {}, order[8] = {}, most = std::max<std::int64_t>(1, d.budget() / bytes);
  for (int i = 0; i < rank; ++i) {
    extents[i] = d.one_in(80) ? 0 : d.extent(rank > 3 ? std::min<std::int64_t>(most, 40) : most);
    most /= std::max<std::int64_t>(1, extents[i]);
    order[i] = i;
  }
  for (int i = rank - 1; i > 0; --i) {
    std::swap(order[i], order[d.pick(0, i)]);
    std::swap(extents[i], extents[d.pick(0, i)]);
  }
  const auto count = static_cast<std::size_t>(rank);
  twill::permute_shape s{{extents, count}, {order, count}, {}, {}};
  if (d.one_in(2)) s.in_strides = draw_strides(d, s.extents);
  if (d.one_in(2)) s.out_strides = draw_strides(d, support::out_extents(s));
  const std::size_t in_offset = d.offset(), out_offset = d.offset();
  return support::permute_call(s, bytes, in_offset, out_offset);
}

drawn_call draw_copy(dice& d) {
  const std::int64_t bytes = d.element_bytes(), most = std::max<std::int64_t>(1, d.budget() / bytes);
  twill::copy_shape s;
  s.rows = d.one_in(3) ? 1 : d.extent(most);
  s.cols = d.extent(most / s.rows);
  s.in_ld = d.leading(s.cols);
  s.out_ld = d.leading(s.cols);
  const std::size_t in_offset = d.offset(), out_offset = d.offset();
  return support::copy_call(s, bytes, in_offset, out_offset);
}

drawn_call draw_reverse(dice& d) {
  const std::int64_t bytes = d.element_bytes(), count = d.extent(std::max<std::int64_t>(1, d.budget() / bytes));
  const bool in_place = d.one_in(2);
  const std::size_t in_offset = d.offset(), out_offset = d.offset();
  return support::reverse_call(count, bytes, in_place, in_offset, out_offset);
}

drawn_call draw(dice& d) {
  switch (d.pick(0, 9)) {
    case 0:
    case 1:
    case 2:
      return draw_transpose_in_place(d);
    case 3:
    case 4:
    case 5:
      return draw_permute(d);
    case 6:
      return d.one_in(2) ? draw_copy(d) : draw_reverse(d);
    default:
      return draw_transpose(d);
  }
}

void run_random(const twill::device& device, std::uint64_t seed, int cases) {
  const twill::stream stream(device);
  support::arena arena(stream, arena_bytes);
  dice d(seed);
  for (int i = 0; i < cases; ++i) {
    const drawn_call call = draw(d);
    if (support::arena::needed_by(call) > arena.free_bytes()) {
      const std::string wrong = arena.finish();
      REQUIRE_MESSAGE(wrong.empty(), wrong);
    }
    if (support::arena::needed_by(call) > arena.free_bytes()) continue;  // gaps can make a call larger than all
    INFO(call.text);
    if (i % 8 == 0) {
      std::string alone;
      REQUIRE_NOTHROW(alone = support::run_tightly(stream, call));
      REQUIRE_MESSAGE(alone.empty(), alone);
    }
    REQUIRE_NOTHROW(arena.start(call));
  }
  const std::string wrong = arena.finish();
  REQUIRE_MESSAGE(wrong.empty(), wrong);
}

}  // namespace

TEST_SUITE_BEGIN("random");

TEST_CASE("reference: calls drawn from a fixed seed, every byte of the memory around them compared") {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    support::on_random_rounds(20260607, [&](std::uint64_t seed, int cases) { run_random(device, seed, cases); });
  }
}

TEST_SUITE_END();
