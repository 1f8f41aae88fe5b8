// Which kernel permutes what.

#include "kernels/permute_naive.hpp"

#include "core/permute_plan.hpp"
#include "launch.hpp"
#include "ops/permute_plan.hpp"
#include "ops/table.hpp"
#include "ops/transpose_plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::work_queue;

constexpr std::int64_t least_row_bytes = 256;  // below, runs of the input are too short to be read one by one

template <class Unit>
void start_naive(const work_queue& queue, const permute_args& a) {
  constexpr std::int64_t size = sizeof(Unit);
  kernels::naive_dims d{};
  const auto add = [&](std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    d.extent[d.rank] = extent;
    d.in_stride[d.rank] = in_stride;
    d.out_stride[d.rank++] = out_stride;
    d.units *= extent;
  };
  d.units = 1;
  add(a.run_bytes / size, size, size);
  for (int i = 0; i < a.rank; ++i) add(a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride);
  const std::int64_t blocks = (d.units + kernels::naive_threads - 1) / kernels::naive_threads;
  check(launch(queue, grid_of(blocks, kernels::naive_threads, 0), &kernels::permute_naive<Unit>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), d),
        "launch of permute");
}

void permute_naively(const work_queue& queue, const permute_args& a) {
  switch (unit_of(a)) {
    case 1:
      return start_naive<std::uint8_t>(queue, a);
    case 2:
      return start_naive<std::uint16_t>(queue, a);
    case 4:
      return start_naive<std::uint32_t>(queue, a);
    case 8:
      return start_naive<std::uint64_t>(queue, a);
    default:
      return start_naive<word16>(queue, a);
  }
}

}  // namespace

void permute(const work_queue& queue, const permute_args& a) {
  if (const auto as = detail::as_transpose(a)) return transpose(queue, *as);
  if (a.run_bytes >= least_row_bytes && permute_by_rows(queue, a)) return;
  if (permute_by_tile(queue, a) || permute_by_gather(queue, a)) return;
  permute_naively(queue, a);
}

}  // namespace twill::TWILL_BACKEND
