// Host calls on simulated devices: uploads, downloads, copies, fills and offsets that leave an allocation are errors
// before anything moves.

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/simt_launch.hpp"

using namespace twill;
using support::contains;
using support::error_of;

namespace {

constexpr std::size_t cells = 64;  // of 256 bytes

// A buffer of the values 0 to 63, and a host array that is larger than it.
struct planted {
  explicit planted(bool checks) : gpu(device::open("simt")), s(gpu), memory(gpu, cells), other(gpu, 4 * cells) {
    set_checks(gpu, checks);
    std::vector<std::int32_t> values(cells);
    std::iota(values.begin(), values.end(), 0);
    memory.upload(values, s);
    fill_bytes(s, other.data(), 0, other.size_bytes());
  }

  bool is_untouched() const {
    std::vector<std::int32_t> seen(cells);
    memory.download(seen, s);
    s.wait();
    for (std::size_t i = 0; i < cells; ++i) {
      if (seen[i] != static_cast<std::int32_t>(i)) return false;
    }
    for (const std::int32_t each : host) {
      if (each != 7) return false;
    }
    return true;
  }

  device gpu;
  stream s;
  buffer<std::int32_t> memory, other;
  std::vector<std::int32_t> host = std::vector<std::int32_t>(4 * cells, 7);
};

std::string outside(const char* call, const char* access, std::size_t bytes, std::size_t offset) {
  return std::string("invalid_argument: ") + call + ": " + access + " outside an allocation (" + std::to_string(bytes) +
         " bytes at offset " + std::to_string(offset) + " of allocation ";
}

}  // namespace

TEST_SUITE_BEGIN("simt host calls");

TEST_CASE("an upload, a download, a copy and a fill past an allocation") {
  for (const bool checks : {false, true}) {
    if (checks && TWILL_SANITIZED) continue;
    CAPTURE(checks);
    planted on(checks);
    auto* const data = on.memory.data();
    const auto upload = error_of([&] { upload_bytes(on.s, on.host.data(), data, 257); });
    CHECK(contains(upload, outside("upload", "writes", 257, 0)));
    CHECK(contains(upload, " of simt, 256 bytes) compare extents"));
    CHECK(contains(error_of([&] { download_bytes(on.s, data + 1, on.host.data(), 256); }),
                   outside("download", "reads", 256, 4)));
    CHECK(contains(error_of([&] { copy_bytes(on.s, on.other.data(), data + 63, 5); }),
                   outside("copy", "writes", 5, 252)));
    CHECK(contains(error_of([&] { copy_bytes(on.s, data, on.other.data(), 300); }), outside("copy", "reads", 300, 0)));
    CHECK(contains(error_of([&] { fill_bytes(on.s, data + 2, 1, 249); }), outside("fill", "writes", 249, 8)));
    CHECK(on.is_untouched());
    CHECK(error_of([&] { fill_bytes(on.s, data + 2, 1, 248); }).empty());
  }
}

TEST_CASE("pitched rows past an allocation, by row") {
  for (const bool checks : {false, true}) {
    if (checks && TWILL_SANITIZED) continue;
    CAPTURE(checks);
    planted on(checks);
    auto* const data = on.memory.data();
    auto* const host = on.host.data();
    CHECK(contains(error_of([&] { upload(on.s, host, data, copy_shape{5, 10, 10, 14}); }),
                   "upload: writes outside an allocation (row 4, 40 bytes at offset 224 of allocation "));
    CHECK(contains(error_of([&] { download(on.s, data + 10, host, copy_shape{5, 10, 12, 10}); }),
                   "download: reads outside an allocation (row 4, 40 bytes at offset 232 of allocation "));
    CHECK(on.is_untouched());
    CHECK(error_of([&] { upload(on.s, host, data, copy_shape{4, 10, 10, 18}); }).empty());
  }
}

TEST_CASE("offsets of segments past an allocation, and decreasing") {
  for (const bool checks : {false, true}) {
    if (checks && TWILL_SANITIZED) continue;
    CAPTURE(checks);
    planted on(checks);
    buffer<std::int64_t> offsets(on.gpu, 3);
    buffer<std::int32_t> sums(on.gpu, 3);
    const raw_buffer scratch(on.gpu, std::size_t{8} << 20);
    const auto reduce = [&](std::int64_t segments) {
      return error_of([&] { reduce_segments(on.s, on.memory.data(), sums.data(), offsets.data(), segments, scratch); });
    };
    const auto scan = [&](std::int64_t segments) {
      return error_of(
          [&] { scan_segments(on.s, on.memory.data(), on.other.data(), cells, offsets.data(), segments, scratch); });
    };
    offsets.upload({0, 2, 5}, on.s);
    CHECK(contains(reduce(3), outside("reduce_segments", "reads", 32, 0)));
    CHECK(reduce(2).empty());
    offsets.upload({0, 5, 2}, on.s);
    CHECK(contains(reduce(2), "reduce_segments: offsets decrease (offset 2 is 2)"));
    offsets.upload({-1, 2, 5}, on.s);
    CHECK(contains(reduce(2), "reduce_segments: the first offset is negative (offset 0 is -1)"));
    offsets.upload({0, 2, 5}, on.s);
    CHECK(contains(scan(4), outside("scan_segments", "reads", 32, 0)));
    offsets.upload({0, 5, 2}, on.s);
    CHECK(contains(scan(3), "scan_segments: offsets decrease (offset 2 is 2)"));
    CHECK(on.is_untouched());
  }
}

TEST_CASE("released memory" * doctest::skip(TWILL_SANITIZED)) {
  planted on(true);
  void* gone = nullptr;
  std::int64_t* gone_offsets = nullptr;
  {
    const raw_buffer short_lived(on.gpu, 8192);
    buffer<std::int64_t> offsets(on.gpu, 2048);
    gone = static_cast<char*>(short_lived.data()) + 16;
    gone_offsets = offsets.data();
  }
  const auto released = [](const char* call, const char* access, int offset) {
    return std::string("invalid_argument: ") + call + ": " + access + " released memory (8 bytes at offset " +
           std::to_string(offset) + " of allocation ";
  };
  CHECK(contains(error_of([&] { upload_bytes(on.s, on.host.data(), gone, 8); }), released("upload", "writes", 16)));
  CHECK(contains(error_of([&] { download_bytes(on.s, gone, on.host.data(), 8); }), released("download", "reads", 16)));
  CHECK(contains(error_of([&] { copy_bytes(on.s, on.memory.data(), gone, 8); }), released("copy", "writes", 16)));
  CHECK(contains(error_of([&] { fill_bytes(on.s, gone, 1, 8); }), released("fill", "writes", 16)));
  const raw_buffer scratch(on.gpu, std::size_t{8} << 20);
  CHECK(contains(error_of([&] { reduce_segments(on.s, on.memory.data(), on.other.data(), gone_offsets, 1, scratch); }),
                 "reduce_segments: reads released memory (16 bytes at offset 0 of allocation "));
  CHECK(on.is_untouched());
}

TEST_CASE("host memory as device memory, and the other way round" * doctest::skip(TWILL_SANITIZED)) {
  planted on(true);
  auto* const data = on.memory.data();
  auto* const host = on.host.data();
  CHECK(contains(error_of([&] { upload_bytes(on.s, host + 64, host, 8); }),
                 "upload: writes memory that is not device memory (8 bytes outside every allocation of simt)"));
  CHECK(contains(error_of([&] { download_bytes(on.s, host + 64, host, 8); }), "download: reads memory that is not"));
  CHECK(contains(error_of([&] { fill_bytes(on.s, host, 1, 8); }), "fill: writes memory that is not"));
  CHECK(contains(error_of([&] { upload_bytes(on.s, on.other.data(), data, 8); }),
                 "upload: reads device memory where host memory is expected (allocation "));
  CHECK(contains(error_of([&] { download_bytes(on.s, on.other.data(), data, 8); }), "download: writes device memory"));
  CHECK(on.is_untouched());
  // Without checks a simulated device works in host memory too.
  set_checks(on.gpu, false);
  CHECK(error_of([&] { upload_bytes(on.s, host + 64, host, 8); }).empty());
}

TEST_SUITE_END();
