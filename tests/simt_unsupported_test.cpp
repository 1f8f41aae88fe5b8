// Problems that are right in themselves but more than a device can do: each says so, before anything is launched.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <twill/ladder/array.hpp>
#include <twill/ladder/reduce.hpp>
#include <twill/ladder/transpose.hpp>
#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/simt_launch.hpp"
#include "support/team_run.hpp"

namespace {

using twill::errc;

// Addresses far from each other, never followed.
template <class T>
T* far_away(int power) {
  return reinterpret_cast<T*>(std::uintptr_t{1} << power);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

TEST_SUITE_BEGIN("unsupported");

TEST_CASE("grids of more blocks than 32 bits count") {
  const auto device = twill::device::open("simt");
  const twill::stream stream(device);
  const twill::raw_buffer scratch(device, std::size_t{8} << 20);
  const auto* in = far_away<const unsigned char>(40);
  auto* out = far_away<unsigned char>(61);
  const auto code = [&](const twill::transpose_shape& shape) {
    return support::code_of([&] { twill::transpose(stream, in, out, shape); });
  };
  CHECK(code({1024, 1024, std::int64_t{1} << 40}) == errc::unsupported);        // tiles
  CHECK(code({1000, 1001, std::int64_t{1} << 40, 1003}) == errc::unsupported);  // misaligned rows
  CHECK(code({1000, 1001, std::int64_t{1} << 39, 1003, 1004}) == errc::unsupported);
  CHECK(support::code_of([&] {
          twill::reduce_rows(stream, far_away<const unsigned char>(57), out, {std::int64_t{1} << 40, 70001}, scratch,
                             {twill::reduce_op::max});
        }) == errc::unsupported);
}

TEST_CASE("rungs whose grids are larger than a device's") {
  const auto device = twill::device::open("simt");
  const twill::stream stream(device);
  const twill::raw_buffer scratch(device, std::size_t{8} << 20);
  const auto* in = far_away<const unsigned char>(50);
  auto* out = far_away<unsigned char>(60);
  const auto transpose = [&](std::int64_t rows, std::int64_t cols) {
    return support::code_of([&] { twill::transpose_rung(stream, "naive-row", in, out, 4, rows, cols); });
  };
  CHECK(transpose(std::int64_t{1} << 37, 1) == errc::unsupported);  // grid z
  CHECK(transpose(1, std::int64_t{1} << 37) == errc::unsupported);  // grid x
  const auto array = [&](const char* op, const char* rung) {
    return support::code_of([&] {
      twill::array_rung(stream, op, rung, in, out, twill::element_type::f32, std::int64_t{1} << 43, scratch);
    });
  };
  CHECK(array("reverse", "naive") == errc::unsupported);
  CHECK(array("increment", "naive") == errc::unsupported);
  CHECK(support::code_of([&] {
          twill::reduce_rung(stream, "sequential", in, out, twill::element_type::f32, std::int64_t{1} << 43,
                             {far_away<unsigned char>(52), std::size_t{1} << 42});
        }) == errc::unsupported);
}

TEST_CASE("a block of more threads, or of more shared memory, than a device has") {
  const auto device = twill::device::open("simt:gtx280");
  const twill::stream stream(device);
  const twill::raw_buffer in(device, 64), out(device, 64);
  const auto refused_by = [&](std::string_view rung, twill::block_shape block, std::int64_t element_bytes) {
    return support::error_of(
        [&] { twill::transpose_rung(stream, rung, in.data(), out.data(), element_bytes, 2, 2, {block, 1}); });
  };
  CHECK(support::contains(refused_by("naive-row", {32, 32}, 4),
                          "unsupported: transpose_rung: naive-row cannot run with "
                          "block 32x32 (simt:gtx280 has 512 threads"));
  CHECK(support::contains(refused_by("conflict-free", {32, 8}, 16), "and 16384 bytes of shared memory a block"));
}

TEST_CASE("a scan of more than 2^31 tiles") {
  const auto device = twill::device::open("simt");
  twill::scan_shape shape;
  shape.rows = std::int64_t{1} << 32;
  shape.cols = 100001;
  CHECK(support::code_of([&] { (void)twill::scan_scratch_bytes(device, twill::element_type::u8, shape); }) ==
        errc::unsupported);
  CHECK(support::code_of([&] {
          (void)twill::scan_segments_scratch_bytes(device, twill::element_type::u8, std::int64_t{1} << 60, 1);
        }) == errc::unsupported);
}

TEST_CASE("rows of 16 bytes on a device with too little shared memory for their kernel: another one copies them") {
  const auto device = twill::device::open("simt:gtx280");
  const twill::stream stream(device);
  twill::raw_buffer in(device, 55 * 16), out(device, 55 * 32);
  twill::fill_bytes(stream, in.data(), 3, in.size_bytes());
  CHECK_NOTHROW(twill::copy_bytes(stream, in.data(), out.data(), 1, {55, 16, 0, 32}));
  CHECK_NOTHROW(stream.wait());
}

TEST_CASE("a scan whose tile does not fit shared memory") {
  const auto device = twill::device::open("simt:gtx280");
  const twill::stream stream(device);
  twill::buffer<float> in(device, 20000), out(device, 20000);
  const twill::scan_shape shape{1, 20000};
  const twill::raw_buffer scratch(device, twill::scan_scratch_bytes(device, twill::element_type::f32, shape));
  twill::fill_bytes(stream, out.data(), 7, out.size_bytes());
  CHECK(support::code_of([&] { twill::scan(stream, in.data(), out.data(), shape, scratch); }) == errc::unsupported);
  std::uint32_t found = 0;
  twill::download_bytes(stream, out.data(), &found, 4);
  CHECK(found == 0x07070707u);
  CHECK_NOTHROW(stream.wait());
  // Rows that need no tile are scanned, those of 500 bytes in as much shared memory as there is.
  twill::fill_bytes(stream, in.data(), 0, in.size_bytes());
  CHECK_NOTHROW(twill::scan(stream, in.data(), out.data(), {2, 10000}, {}));
  CHECK_NOTHROW(twill::scan(stream, in.data(), out.data() + 1, {150, 125}, {}));
  CHECK_NOTHROW(stream.wait());
}

TEST_CASE("slabs in vectors, with 16 KiB of shared memory") {
  twill::global_options options;
  options.via = twill::transport::direct;
  const auto device = twill::device::open("simt:gtx280");
  for (const std::int64_t bytes : {1, 2, 4}) {
    CAPTURE(bytes);
    CHECK(support::right_in_one_process(device, support::slab_transpose(2, 544, 288, bytes), 1, 0, options));
  }
}

TEST_SUITE_END();
