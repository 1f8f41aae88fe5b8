#include "ops/permute_plan.hpp"
#include "ops/table.hpp"

namespace twill::TWILL_BACKEND {

// Rows that nothing is to be gathered from: short ones too are best moved line by line.
void copy(const detail::work_queue& queue, const detail::copy_args& a) {
  const detail::permute_args rows{a.in, a.out, a.row_bytes, 1, {{a.rows, a.in_pitch, a.out_pitch}}};
  if (!permute_by_rows(queue, rows)) permute(queue, rows);
}

}  // namespace twill::TWILL_BACKEND
