// Every kernel of the operations that move data, on every device. That these calls do choose them all is what
// simt_choices_test.cpp finds out.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/arena.hpp"
#include "support/cases.hpp"
#include "support/directed_calls.hpp"

TEST_SUITE_BEGIN("every kernel");

TEST_CASE("reference: calls that no kernel is left out by") {
  support::on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::string wrong = support::run_all(stream, support::directed_calls::of(device.properties()));
    CHECK_MESSAGE(wrong.empty(), wrong);
  });
}

// With checks on, also of what each reads: no array has anything around it.
TEST_CASE("bounds: the same calls in memory of exactly their size") {
  support::on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    for (const auto& call : support::directed_calls::of(device.properties())) {
      CAPTURE(call.text);
      std::string wrong;
      REQUIRE_NOTHROW(wrong = support::run_tightly(stream, call));
      REQUIRE_MESSAGE(wrong.empty(), wrong);
    }
  });
}

TEST_SUITE_END();
