#include <type_traits>

#include "dispatch.hpp"
#include "plan.hpp"

namespace twill::TWILL_BACKEND {

void scan_extremes(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan) {
  with_extreme_kind(args.type, args.options.op == scan_op::max, [&](const auto& kind) {
    if (args.segments == 0) return launch_scan(queue, args, plan, kind);
    launch_scan(queue, args, plan, kernels::in_segments<std::decay_t<decltype(kind)>>{kind});
  });
}

}  // namespace twill::TWILL_BACKEND
