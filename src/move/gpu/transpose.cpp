// A transpose is converted to its normal form and launched as a permutation.

#include "backends/backend.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {

void transpose(const detail::work_queue& queue, const detail::transpose_args& args) {
  const detail::permute_args form = detail::normal_form_of(args);
  if (form.rank > 0) return permute(queue, form);
  queue.device->copy(queue.native, form.out, form.in, static_cast<std::size_t>(form.run_bytes),
                     detail::copy_direction::device_to_device);
}

}  // namespace twill::TWILL_BACKEND
