// Tiles that go through shared memory.

#include <cstring>

#include "backends/cpu/device.hpp"
#include "backends/cpu/vector.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::permute_args;

/// Calls f(offset, offset) for each index of all dimensions: a run's offsets in the input and in the output.
template <class F>
void for_each_run(const permute_args& a, F&& f) {
  std::int64_t index[8] = {}, in = 0, out = 0;
  for (;;) {
    f(in, out);
    int i = 0;
    for (; i < a.rank; ++i) {
      in += a.dims[i].in_stride;
      out += a.dims[i].out_stride;
      if (++index[i] < a.dims[i].extent) break;
      in -= a.dims[i].extent * a.dims[i].in_stride;
      out -= a.dims[i].extent * a.dims[i].out_stride;
      index[i] = 0;
    }
    if (i == a.rank) return;
  }
}

}  // namespace

void store_tile(const detail::work_queue&, const permute_args& a) {
  const auto* const from = static_cast<const unsigned char*>(a.in);
  auto* const to = static_cast<unsigned char*>(a.out);
  const auto bytes = static_cast<std::size_t>(a.run_bytes);
  const auto* const vector = vectors();
  if (vector == nullptr) {
    for_each_run(a, [&](std::int64_t in, std::int64_t out) { std::memcpy(to + out, from + in, bytes); });
    return;
  }
  for_each_run(a, [&](std::int64_t in, std::int64_t out) { vector->stream(to + out, from + in, bytes); });
  vector->fence();
}

}  // namespace twill::cpu
