#pragma once

#include <cstdint>

namespace twill::simt {

enum class access_kind : std::uint8_t { load, store, atomic, atomic_load, atomic_store };

constexpr bool is_atomic(access_kind kind) {
  return kind != access_kind::load && kind != access_kind::store;
}
constexpr bool reads(access_kind kind) {
  return kind == access_kind::load || kind == access_kind::atomic || kind == access_kind::atomic_load;
}
constexpr bool writes(access_kind kind) {
  return kind == access_kind::store || kind == access_kind::atomic || kind == access_kind::atomic_store;
}

}  // namespace twill::simt
