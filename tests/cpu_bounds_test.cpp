// Moves on "cpu" between arrays whose first or last byte lies beside a page that cannot be accessed: a load or store
// beyond an array ends the test program.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>

#include <twill/twill.hpp>

#include "support/devices.hpp"
#include "support/permute_reference.hpp"
#include "support/transpose_in_place_reference.hpp"

namespace {

constexpr std::size_t page = 4096;

/// `bytes` bytes, between two pages without access: right after the first one, or right before the second.
class fenced_array {
 public:
  fenced_array(std::size_t bytes, bool at_end) : mapped_((bytes + page - 1) / page * page + 2 * page) {
    void* const all = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    base_ = static_cast<unsigned char*>(all);
    REQUIRE(mprotect(base_ + page, mapped_ - 2 * page, PROT_READ | PROT_WRITE) == 0);
    data_ = at_end ? base_ + mapped_ - page - bytes : base_ + page;
  }
  ~fenced_array() { munmap(base_, mapped_); }
  fenced_array(const fenced_array&) = delete;
  fenced_array& operator=(const fenced_array&) = delete;

  unsigned char* data() const { return data_; }

 private:
  std::size_t mapped_;
  unsigned char *base_, *data_;
};

void fill(const fenced_array& memory, std::size_t bytes) {
  std::mt19937 random(static_cast<unsigned>(bytes));
  std::generate(memory.data(), memory.data() + bytes, [&] { return static_cast<unsigned char>(random()); });
}

void check_permute(twill::stream_ref stream, twill::permute_shape shape, std::int64_t element_bytes) {
  if (shape.in_strides.size() == 0) shape.in_strides = support::packed_strides(shape.extents);
  shape.out_strides = support::packed_strides(support::out_extents(shape));
  const auto reach = support::reach_of(shape.extents, shape.in_strides, element_bytes);
  const auto in_bytes = static_cast<std::size_t>(reach.before + reach.after);
  std::int64_t bytes = element_bytes;
  for (const std::int64_t extent : shape.extents) bytes *= extent;
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<unsigned char> expected(size);
  for (const bool at_end : {false, true}) {
    const fenced_array in(in_bytes, at_end), out(size, at_end);
    fill(in, in_bytes);
    const unsigned char* const first = in.data() + reach.before;
    twill::permute_bytes(stream, first, out.data(), element_bytes, shape);
    stream.wait();
    support::permute_reference(first, expected.data(), element_bytes, shape);
    CHECK(std::equal(expected.begin(), expected.end(), out.data()));
  }
}

void check_in_place(twill::stream_ref stream, const twill::transpose_in_place_shape& shape,
                    std::int64_t element_bytes) {
  const auto size = static_cast<std::size_t>(support::elements_of(shape) * element_bytes);
  const auto least =
      twill::transpose_in_place_scratch_bytes(stream.on(), element_bytes, shape, twill::scratch_size::least);
  for (const bool at_end : {false, true}) {
    const fenced_array data(size, at_end), scratch(least, at_end);
    fill(data, size);
    std::vector<unsigned char> expected(data.data(), data.data() + size);
    twill::transpose_in_place_bytes(stream, data.data(), element_bytes, shape, {scratch.data(), least});
    stream.wait();
    support::transpose_in_place_reference(expected.data(), element_bytes, shape);
    CHECK(std::equal(expected.begin(), expected.end(), data.data()));
  }
}

}  // namespace

TEST_SUITE_BEGIN("cpu bounds");

TEST_CASE("nothing beside an array is read or written on the CPU") {
  const auto devices = support::test_devices();
  if (std::find(devices.begin(), devices.end(), "cpu") == devices.end()) return;
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  std::mt19937 random(20261123);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 400; ++i) {
    const std::int64_t element_bytes = pick(1, 24);
    const bool large = i % 50 == 0;  // streamed past the caches
    std::int64_t extents[4] = {}, order[4] = {0, 1, 2, 3}, left = (large ? 5 << 20 : 30000) / element_bytes;
    const auto rank = static_cast<std::size_t>(pick(2, 4));
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      extents[d] = pick(1, std::min<std::int64_t>(left, pick(2, 200)));
      left /= extents[d];
    }
    extents[rank - 1] = std::max<std::int64_t>(left, 1);
    std::shuffle(order, order + rank, random);
    std::shuffle(extents, extents + rank, random);
    twill::permute_shape shape{{extents, rank}, {order, rank}, {}, {}};
    if (i % 3 == 1) {  // gaps, and dimensions from their other end
      std::int64_t strides[4] = {}, next = pick(1, 2);
      for (std::size_t d = rank; d-- > 0; next = next * extents[d] + pick(0, 2)) strides[d] = pick(0, 1) ? next : -next;
      shape.in_strides = {strides, rank};
    }
    CAPTURE(i);
    CAPTURE(element_bytes);
    check_permute(stream, shape, element_bytes);
  }
}

TEST_CASE("nothing beside a matrix is read or written in place on the CPU") {
  const auto devices = support::test_devices();
  if (std::find(devices.begin(), devices.end(), "cpu") == devices.end()) return;
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  std::mt19937 random(20261124);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t element_bytes = pick(1, 24), most = i % 20 == 0 ? 400 : 60;
    const std::int64_t rows = pick(1, most), cols = i % 3 == 0 ? rows : pick(1, most), batch = pick(1, 3);
    const std::int64_t ld = rows == cols ? cols + pick(0, 3) : cols;
    CAPTURE(element_bytes);
    CAPTURE(rows);
    CAPTURE(cols);
    check_in_place(stream, {rows, cols, batch, ld, rows * ld + pick(0, 5)}, element_bytes);
  }
}
