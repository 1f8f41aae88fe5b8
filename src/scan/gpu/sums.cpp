#include <type_traits>

#include "dispatch.hpp"
#include "plan.hpp"

namespace twill::TWILL_BACKEND {

void scan_sums(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan) {
  with_sum_kind(args.type, [&](const auto& kind) { launch_scan(queue, args, plan, kind); });
}

}  // namespace twill::TWILL_BACKEND
