#pragma once

#include <cstddef>

#include <twill/buffer.hpp>

#include "ladder_problem.hpp"

namespace twill::tool {

/// Inputs and outputs of one problem, several times over: a cold run takes another pair each time, so that no cache
/// still holds the data of the run before.
class working_set {
 public:
  /// Every input is filled with what the problem gives.
  working_set(stream_ref stream, const ladder_problem& problem, int pairs);

  int pairs() const { return pairs_; }
  const void* in(int pair) const { return at(ins_, in_pitch_, pair); }
  void* out(int pair) const { return at(outs_, out_pitch_, pair); }
  std::size_t out_bytes() const { return out_bytes_; }

 private:
  static void* at(const raw_buffer& from, std::size_t pitch, int pair) {
    return static_cast<unsigned char*>(from.data()) + pitch * static_cast<std::size_t>(pair);
  }

  int pairs_;
  std::size_t in_pitch_, out_pitch_, out_bytes_;
  raw_buffer ins_, outs_;
};

/// Pairs of a cold run, of which each touches `touched_bytes`: together at least four times the last-level cache and at
/// least two, but no more than fit the free memory; one where a single pair is that large.
int cold_pairs(const device& on, std::size_t touched_bytes, std::size_t pair_bytes);

}  // namespace twill::tool
