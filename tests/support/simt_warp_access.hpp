#pragma once

// Warp instructions made by hand, for tests of what they cost.

#include <string_view>

#include "backends/simt/access_rules.hpp"

namespace support {

/// An instruction in which lane k of the first `lanes` accesses address_of(k).
template <class F>
twill::simt::warp_access make_access(twill::simt::memory_space space, bool store, int bytes, F address_of,
                                     unsigned lanes = 32) {
  twill::simt::warp_access access;
  access.space = space;
  access.store = store;
  access.bytes = static_cast<std::uint8_t>(bytes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    access.active |= std::uint64_t{1} << lane;
    access.address[lane] = static_cast<std::uint64_t>(address_of(lane));
  }
  return access;
}

template <class F>
twill::simt::warp_access global_load(int bytes, F address_of, unsigned lanes = 32) {
  return make_access(twill::simt::memory_space::global, false, bytes, address_of, lanes);
}
template <class F>
twill::simt::warp_access global_store(int bytes, F address_of, unsigned lanes = 32) {
  return make_access(twill::simt::memory_space::global, true, bytes, address_of, lanes);
}
template <class F>
twill::simt::warp_access shared_load(int bytes, F address_of, unsigned lanes = 32) {
  return make_access(twill::simt::memory_space::shared, false, bytes, address_of, lanes);
}
template <class F>
twill::simt::warp_access shared_store(int bytes, F address_of, unsigned lanes = 32) {
  return make_access(twill::simt::memory_space::shared, true, bytes, address_of, lanes);
}

inline twill::simt::global_cost global_cost_of(std::string_view architecture, const twill::simt::warp_access& access) {
  twill::simt::global_cost cost;
  twill::simt::rules_of(architecture).global(access, cost);
  return cost;
}

inline unsigned wavefronts_of(std::string_view architecture, const twill::simt::warp_access& access) {
  return twill::simt::rules_of(architecture).shared(access).wavefronts;
}

}  // namespace support
