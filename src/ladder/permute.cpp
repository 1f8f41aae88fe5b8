#include <twill/ladder/permute.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/call.hpp"
#include "ladder.hpp"
#include "ladder/operations.hpp"

namespace twill {
namespace {

detail::ladder<detail::permute_rung_args> permute_ladder_of(const device& on) {
  return {on, detail::ladders_of(*on.impl()).ladders().permute, {}};
}

/// Refuses what is not a permutation; the product of the extents.
std::int64_t read_shape(const permute_shape& shape, detail::permute_rung_args& to) {
  if (shape.in_strides.size() != 0 || shape.out_strides.size() != 0) {
    detail::fail(errc::unsupported, "a rung cannot take strides", "it moves a packed array", "leave them out");
  }
  const int rank = shape.extents.size();
  unsigned seen = 0;
  std::int64_t elements = 1;
  for (int i = 0; i < rank; ++i) {
    detail::require_extent(shape.extents[i], "an extent");
    to.extents[i] = shape.extents[i];
    elements = detail::checked_product(elements, shape.extents[i], "the product of the extents");
  }
  for (int i = 0; i < shape.order.size(); ++i) {
    to.order[i] = shape.order[i];
    if (shape.order[i] >= 0 && shape.order[i] < rank) seen |= 1u << shape.order[i];
  }
  if (shape.order.size() != rank || seen != (1u << rank) - 1) {
    detail::fail(errc::invalid_argument, "order is not a permutation of the dimensions",
                 "each dimension must appear exactly once", "give 0 to " + std::to_string(rank - 1) + " in some order");
  }
  to.rank = rank;
  return elements;
}

}  // namespace

std::vector<rung> permute_rungs(const device& on) {
  return detail::in_call("permute_rungs", [&] { return permute_ladder_of(on).rungs(); });
}

void permute_rung(stream_ref stream, std::string_view name, const void* in, void* out, extent element_bytes,
                  const permute_shape& shape, const rung_options& options) {
  detail::in_call("permute_rung", [&] {
    const auto queue = detail::queue_of(stream);
    const auto ladder = permute_ladder_of(stream.on());
    const auto& entry = ladder.find(name);
    detail::require_repeats(options.repeats);
    detail::require_element_bytes(element_bytes, 64);
    detail::permute_rung_args args{in, out, element_bytes, 0, {}, {}, options.repeats};
    const auto elements = read_shape(shape, args);
    const auto bytes = detail::checked_product(elements, element_bytes, "the size in bytes");
    if (elements == 0) return;
    const detail::named_memory input{"in", in, bytes}, output{"out", out, bytes};
    detail::require_memory(input, 1);
    detail::require_memory(output, 1);
    detail::require_disjoint(input, output);
    entry.run(queue, args);
  });
}

}  // namespace twill
