#include <cstring>
#include <iterator>

#include "backends/cpu/device.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/plan/normal_form.hpp"
#include "omatcopy.hpp"
#include "table.hpp"

namespace twill::cpu {
namespace {

using detail::transpose_rung_args;
using detail::work_queue;

template <class T>
void naive(const transpose_rung_args& a) {
  const T* in = static_cast<const T*>(a.in);
  T* out = static_cast<T*>(a.out);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t col = 0; col < a.cols; ++col) out[col * a.rows + row] = in[row * a.cols + col];
  }
}

struct sixteen_bytes {
  std::uint64_t low, high;
};

void run_naive(const work_queue&, const transpose_rung_args& a) {
  for (int i = 0; i < a.repeats; ++i) {
    switch (a.element_bytes) {
      case 1:
        naive<std::uint8_t>(a);
        break;
      case 2:
        naive<std::uint16_t>(a);
        break;
      case 4:
        naive<std::uint32_t>(a);
        break;
      case 8:
        naive<std::uint64_t>(a);
        break;
      default:
        naive<sixteen_bytes>(a);
    }
  }
}

void run_tuned(const work_queue& queue, const transpose_rung_args& a) {
  const std::int64_t elements = a.rows * a.cols;
  const detail::permute_args form =
      detail::normal_form_of({a.in, a.out, a.element_bytes, a.rows, a.cols, 1, a.cols, a.rows, elements, elements});
  for (int i = 0; i < a.repeats; ++i) queue.device->operations->move.permute(queue, form);
}

const detail::transpose_rung_entry transpose_table[] = {
    {{"transpose",
      "cpu-naive",
      "two loops on one thread: every store misses the cache",
      "Cheng, Grossman and McKercher, 2014, Professional CUDA C Programming",
      rung_promise::transpose,
      {},
      true},
     nullptr,
     nullptr,
     &run_naive},
    {{"transpose", "cpu-tuned", "twill::transpose on all cores", "this library", rung_promise::transpose, {}, true},
     nullptr,
     nullptr,
     &run_tuned},
};

}  // namespace

detail::table_view<detail::transpose_rung_entry> transpose_ladder() {
  const detail::transpose_rung_entry* reference = omatcopy_rung();
  if (reference == nullptr) return {transpose_table, std::size(transpose_table)};
  static const detail::transpose_rung_entry with_reference[] = {transpose_table[0], transpose_table[1], *reference};
  return {with_reference, std::size(with_reference)};
}

}  // namespace twill::cpu
