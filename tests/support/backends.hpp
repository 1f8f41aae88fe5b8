#pragma once

// The backends of this build. Cases that need another one are skipped, and counted as skipped by doctest:
// TEST_CASE("..." * doctest::skip(!support::has_simt)).

namespace support {

inline constexpr bool has_cpu = TWILL_TESTS_HAVE_CPU, has_simt = TWILL_TESTS_HAVE_SIMT;

}  // namespace support
