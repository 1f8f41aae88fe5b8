// Batches of packed matrices that fit in shared memory (staged_misaligned.hpp).

#include "families.hpp"

#include <algorithm>

#include "staged_misaligned.hpp"

#include "staged_padding.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

constexpr std::int64_t worth_a_block = 16384;  // bytes

bool without_gaps(const transpose_args& a) {
  return a.in_stride == a.rows * a.cols && a.out_stride == a.rows * a.cols;
}

std::int64_t at_once(const transpose_args& a) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  return without_gaps(a) ? std::max<std::int64_t>(1, worth_a_block / bytes) : 1;
}

template <class Unit>
void launch_staged_misaligned_of(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  kernels::matrix_runs w{};
  w.batch = a.batch;
  w.in_stride = a.in_stride * size;
  w.out_stride = a.out_stride * size;
  w.at_once = static_cast<int>(at_once(a));
  w.bytes = static_cast<int>(a.rows * a.cols * size);
  w.shape.rows = static_cast<int>(a.rows);
  w.shape.cols = static_cast<int>(a.cols);
  w.shape.matrix = kernels::make_divider(a.rows * a.cols);
  w.shape.column = kernels::make_divider(a.rows);
  choose_padding<Unit>(w.shape);
  const std::int64_t bytes = std::int64_t{w.at_once} * w.bytes;
  const std::int64_t threads =
      bytes > 2 * worth_a_block ? kernels::staged_misaligned_threads : kernels::staged_misaligned_threads / 2;
  start_kernel(queue, grid_of(ceil_div(a.batch, w.at_once), threads, shared_with_padding(bytes)),
               &kernels::transpose_staged_misaligned<Unit>, a, w);
}

}  // namespace

void launch_staged_misaligned(const work_queue& queue, const transpose_args& a) {
  with_unit<8>(a.element_bytes, [&](auto one) { launch_staged_misaligned_of<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
