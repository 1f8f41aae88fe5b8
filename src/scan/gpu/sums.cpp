#include <type_traits>

#include "dispatch.hpp"
#include "plan.hpp"

namespace twill::TWILL_BACKEND {

void scan_sums(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan) {
  with_sum_kind(args.type, [&](const auto& kind) {
    using sum = std::decay_t<decltype(kind)>;
    if constexpr (kernels::scan_vectors<sum> > kernels::small_tile_vectors) {
      if (plan.in_small_tiles) return launch_tiles(queue, args, plan, kernels::in_small_tiles<sum>{kind});
    }
    launch_scan(queue, args, plan, kind);
  });
}

}  // namespace twill::TWILL_BACKEND
