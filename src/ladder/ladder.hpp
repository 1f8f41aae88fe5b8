#pragma once

// What every ladder needs: its rungs as one list, look-up by name, and the choice of a block. A ladder is then its
// arguments (operations.hpp), its rungs (gpu/, cpu/), and a file here that checks arguments and runs a rung.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "backends/error.hpp"
#include "ladder/operations.hpp"

namespace twill::detail {

/// What an entry says about blocks, whatever the arguments of its ladder.
struct rung_blocks {
  const rung& info;
  const block_shape* blocks;
  std::size_t (*shared_bytes)(std::int64_t element_bytes, block_shape);
  bool (*is_compiled)(std::int64_t element_bytes, block_shape);
};

/// The block asked for, or the rung's default where that is {0, 0}; {} for a rung without blocks.
/// Throws: invalid_argument for a block that the rung does not have; unsupported for one that it is not compiled for
/// with such elements, and beyond the device's limits.
block_shape choose_block(const device& on, const rung_blocks& rung, std::int64_t element_bytes, block_shape asked);

/// The blocks of a rung that are compiled and fit the device.
std::vector<block_shape> fitting_blocks(const device& on, const rung_blocks& rung, std::int64_t element_bytes);

/// Throws invalid_argument, naming the rungs there are.
[[noreturn]] void fail_unknown_rung(const device& on, std::string_view name, const std::vector<rung>& known);

/// Throws invalid_argument when `repeats` is below 1.
void require_repeats(int repeats);

/// Whether `tuned`, the public operation as a rung, stands on top of this device's ladder: the CPU has `cpu-tuned`.
bool has_tuned(const device& on);

/// One operation's ladder on one device: the rungs of its backend, then those made of other calls.
template <class Args>
class ladder {
 public:
  using entry = ladder_entry<Args>;

  /// `shared` are the rungs of every device (memcpy, tuned ...); null pointers among them are left out.
  ladder(const device& on, table_view<entry> own, std::initializer_list<const entry*> shared) : device_(on) {
    for (const auto& each : own) entries_.push_back(&each);
    for (const auto* each : shared) {
      if (each != nullptr) entries_.push_back(each);
    }
  }

  std::vector<rung> rungs() const {
    std::vector<rung> list;
    for (const auto* each : entries_) list.push_back(each->info);
    return list;
  }

  /// Throws: invalid_argument for an unknown rung.
  const entry& find(std::string_view name) const {
    for (const auto* each : entries_) {
      if (each->info.name == name) return *each;
    }
    fail_unknown_rung(device_, name, rungs());
  }

  std::vector<block_shape> blocks(std::string_view name, std::int64_t element_bytes) const {
    return fitting_blocks(device_, blocks_of(find(name)), element_bytes);
  }

  block_shape choose_block(const entry& which, std::int64_t element_bytes, block_shape asked) const {
    return detail::choose_block(device_, blocks_of(which), element_bytes, asked);
  }

 private:
  static rung_blocks blocks_of(const entry& which) {
    return {which.info, which.blocks, which.shared_bytes, which.is_compiled};
  }

  const device& device_;
  std::vector<const entry*> entries_;
};

}  // namespace twill::detail
