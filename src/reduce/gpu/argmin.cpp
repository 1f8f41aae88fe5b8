// Argmin and argmax.

#include "dispatch.hpp"

#include "exact_columns.hpp"
#include "exact_rows.hpp"

namespace twill::TWILL_BACKEND {
namespace {

void launch_argmin_columns(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  using namespace kernels;
  switch (element_bytes(args.in_type)) {
    case 1:
      return launch_columns<vector_columns<narrow_column_argmin<std::uint8_t>>>(queue, args, traits);
    case 2:
      return launch_columns<vector_columns<narrow_column_argmin<std::uint16_t>>>(queue, args, traits);
    case 4:
      return launch_columns<vector_columns<column_argmin<std::uint32_t>>>(queue, args, traits);
    default:
      return launch_columns<vector_columns<column_argmin<std::uint64_t>>>(queue, args, traits);
  }
}

}  // namespace

void launch_argmin(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  using namespace kernels;
  if (by_columns(args)) return launch_argmin_columns(queue, args, traits);
  switch (element_bytes(args.in_type)) {
    case 1:
      return launch_rows<argmin_keys<std::uint8_t>>(queue, args, traits);
    case 2:
      return launch_rows<argmin_keys<std::uint16_t>>(queue, args, traits);
    case 4:
      return launch_rows<argmin_keys<std::uint32_t>>(queue, args, traits);
    default:
      return launch_rows<argmin_keys<std::uint64_t>>(queue, args, traits);
  }
}

}  // namespace twill::TWILL_BACKEND
