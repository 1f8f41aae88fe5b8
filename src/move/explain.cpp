#include <twill/explain.hpp>

#include <algorithm>
#include <optional>

#include "backends/error.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/permute_call.hpp"
#include "move/plan/candidates.hpp"

namespace twill {
namespace {

std::string text(const detail::gather_plan& p) {
  const detail::composite_tile& t = p.tile;
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const auto counted = [&](std::int64_t value, const char* noun) {
    return number(value) + " " + noun + (value == 1 ? "" : "s");
  };
  return counted(t.in_segments, "segment") + " of " + counted(t.in_bytes, "byte") + " to " + number(t.out_segments) +
         " of " + number(t.out_bytes) + ", units of " + counted(t.unit, "byte") + ", " + counted(p.blocks, "block") +
         ", " + counted(p.shared_bytes, "byte") + " of shared memory";
}

// What a planner is asked; none where there is nothing to choose.
std::optional<detail::permute_args> planned_args(const device& on, extent element_bytes, const permute_shape& shape,
                                                 const void* in, const void* out) {
  constexpr std::uintptr_t first = std::uintptr_t{1} << 60;  // addresses that are aligned, and far from each other
  const auto at = [](const void* given, std::uintptr_t place) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<void*>(place + (reinterpret_cast<std::uintptr_t>(given) & 255));
  };
  detail::require(on.is_open(), "the device is empty", "it was moved from", "open one");
  auto args = detail::checked_permutation(at(in, first), at(out, 3 * first), element_bytes, shape);
  if (args && (args->rank == 0 || on.impl()->operations->move.permute_with == nullptr)) args.reset();
  return args;
}

}  // namespace

std::vector<candidate> explain_permute(const device& on, extent element_bytes, const permute_shape& shape,
                                       const void* in, const void* out) {
  return detail::in_call("explain_permute", [&] {
    std::vector<candidate> found;
    const auto args = planned_args(on, element_bytes, shape, in, out);
    if (!args) return found;
    const detail::candidates all = detail::candidates_of(*args, detail::model_of(on.properties()));
    const detail::work_queue queue{on.impl().get(), nullptr};
    for (int i = 0; i < all.count; ++i) {
      if (!on.impl()->operations->move.permute_with(queue, *args, all.list[i].kind, true)) continue;
      found.push_back({detail::name_of(all.list[i].kind), all.list[i].microseconds,
                       all.list[i].kind == detail::family::gather ? text(*all.gather) : ""});
    }
    return found;
  });
}

std::chrono::nanoseconds planning_time(const device& on, extent element_bytes, const permute_shape& shape) {
  using clock = std::chrono::steady_clock;
  return detail::in_call("planning_time", [&] {
    const auto args = planned_args(on, element_bytes, shape, nullptr, nullptr);
    if (!args) return std::chrono::nanoseconds(0);
    const clock::time_point start = clock::now();
    candidates_of(*args, detail::model_of(on.properties()), detail::wanted::cheapest);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start);
  });
}

std::vector<kernel_family> kernel_families() {
  std::vector<kernel_family> all;
  for (int i = 0; i < detail::families; ++i) {
    const auto kind = static_cast<detail::family>(i);
    all.push_back({detail::name_of(kind), detail::takes(kind)});
  }
  return all;
}

void permute_bytes_with(stream_ref stream, const std::string& kernel, const void* in, void* out, extent element_bytes,
                        const permute_shape& shape) {
  detail::in_call("permute", [&] {
    const detail::work_queue queue = detail::queue_of(stream);
    const auto args = detail::checked_permutation(in, out, element_bytes, shape);
    const auto run = detail::operations_of(stream).move.permute_with;
    if (run == nullptr) {
      if (!args) return;
      detail::fail(errc::unsupported, stream.on().properties().name + " has no kernels to choose from",
                   "its permutations are plain C++", "call permute_bytes");
    }
    const char* const advice = "take one that explain_permute lists";
    int kind = 0;
    while (kind < detail::families && kernel != detail::name_of(static_cast<detail::family>(kind))) ++kind;
    detail::require(kind < detail::families, "no kernel of this name", kernel, advice);
    if (!args) return;
    detail::require(args->rank > 0, "the shape has no kernels to choose from", "it is a copy of contiguous bytes",
                    "call permute_bytes");
    if (run(queue, *args, static_cast<detail::family>(kind), false)) return;
    detail::fail(errc::invalid_argument, "kernel \"" + kernel + "\" cannot move the shape",
                 std::string("it takes ") + detail::takes(static_cast<detail::family>(kind)), advice);
  });
}

}  // namespace twill
