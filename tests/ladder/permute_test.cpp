// What twill::permute is compared with: a vendor's library, where a device has one.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <twill/ladder/permute.hpp>
#include <twill/twill.hpp>

#include "support/devices.hpp"

TEST_SUITE_BEGIN("permute rungs");

TEST_CASE("every rung makes what permute makes") {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    const auto on = twill::device::open(name);
    const twill::stream stream(on);
    const std::int64_t count = 5 * 7 * 12;
    std::vector<float> data(count), expected(count), found(count);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i + 1);
    twill::buffer<float> in(on, data.size()), out(on, data.size());
    in.upload(data, stream);
    const twill::permute_shape shape{{5, 7, 12}, {2, 0, 1}, {}, {}};
    twill::permute(stream, in.data(), out.data(), shape);
    out.download(expected, stream);
    stream.wait();
    for (const auto& each : twill::permute_rungs(on)) {
      CAPTURE(each.name);
      twill::permute_rung(stream, each.name, in.data(), out.data(), 4, shape);
      out.download(found, stream);
      stream.wait();
      CHECK(found == expected);
    }
  }
}

TEST_CASE("a rung that is not there, and is refused") {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    const auto on = twill::device::open(name);
    const twill::stream stream(on);
    twill::buffer<float> in(on, 6), out(on, 6);
    const twill::permute_shape shape{{2, 3}, {1, 0}, {}, {}};
    CHECK_THROWS_WITH_AS(twill::permute_rung(stream, "frobnicate", in.data(), out.data(), 4, shape),
                         doctest::Contains("no "), twill::error);
    for (const auto& each : twill::permute_rungs(on)) {
      CHECK_THROWS_AS(twill::permute_rung(stream, each.name, in.data(), out.data(), 3, shape), twill::error);
      CHECK_THROWS_AS(twill::permute_rung(stream, each.name, in.data(), out.data(), 4, {{2, 3}, {0, 0}, {}, {}}),
                      twill::error);
      CHECK_THROWS_AS(twill::permute_rung(stream, each.name, in.data(), in.data(), 4, shape), twill::error);
    }
  }
}

TEST_SUITE_END();
