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

void check_permute(twill::stream_ref stream, twill::permute_shape shape, std::int64_t element_bytes) {
  std::int64_t bytes = element_bytes;
  for (const std::int64_t extent : shape.extents) bytes *= extent;
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<unsigned char> expected(size);
  for (const bool at_end : {false, true}) {
    const fenced_array in(size, at_end), out(size, at_end);
    std::mt19937 random(static_cast<unsigned>(bytes));
    std::generate(in.data(), in.data() + size, [&] { return static_cast<unsigned char>(random()); });
    twill::permute_bytes(stream, in.data(), out.data(), element_bytes, shape);
    stream.wait();
    shape.in_strides = support::packed_strides(shape.extents);
    shape.out_strides = support::packed_strides(support::out_extents(shape));
    support::permute_reference(in.data(), expected.data(), element_bytes, shape);
    CHECK(std::equal(expected.begin(), expected.end(), out.data()));
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
    const twill::permute_shape shape{{extents, rank}, {order, rank}, {}, {}};
    CAPTURE(i);
    CAPTURE(element_bytes);
    check_permute(stream, shape, element_bytes);
  }
}
