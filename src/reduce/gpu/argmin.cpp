// The places of minima and maxima.

#include "dispatch.hpp"

#include "exact_columns.hpp"

namespace twill::TWILL_BACKEND {
namespace {

/// In whole vectors, if these have few elements: places need much room.
void start_place_columns(const detail::work_queue& queue, const detail::reduce_args& args,
                         const reduce_meaning& meaning) {
  using namespace kernels;
  const auto bytes = element_bytes(args.in_type);
  if (bytes < 4 || !problem_of(args, meaning).aligned) return start_columns<place_columns>(queue, args, meaning);
  if (bytes == 4) return start_columns<vector_columns<column_places<std::uint32_t>>>(queue, args, meaning);
  start_columns<vector_columns<column_places<std::uint64_t>>>(queue, args, meaning);
}

}  // namespace

void start_places(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  using namespace kernels;
  if (by_columns(args)) return start_place_columns(queue, args, meaning);
  switch (element_bytes(args.in_type)) {
    case 1:
      return start_rows<first_places<std::uint8_t>>(queue, args, meaning);
    case 2:
      return start_rows<first_places<std::uint16_t>>(queue, args, meaning);
    case 4:
      return start_rows<first_places<std::uint32_t>>(queue, args, meaning);
    default:
      return start_rows<first_places<std::uint64_t>>(queue, args, meaning);
  }
}

}  // namespace twill::TWILL_BACKEND
