// The rungs of the transpose ladder: what each teaches, where it is from, and how it is launched.

#include "transpose_rungs.hpp"

#include "dispatch.hpp"
#include "launch.hpp"
#include "table.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_rung_args;
using detail::work_queue;

constexpr std::string_view cheng = "Cheng, Grossman and McKercher, 2014, Professional CUDA C Programming";
constexpr std::string_view ruetsch = "Ruetsch and Micikevicius, 2009, Optimizing Matrix Transpose in CUDA";
constexpr std::string_view slides = "Matrix Transpose: Get 90% Bandwidth (lecture slides, Tesla K20)";

template <class T>
using matrix_kernel = void (*)(T*, const T*, std::int64_t, std::int64_t, int);

template <class T>
void start(const work_queue& queue, const transpose_rung_args& a, const detail::launch_config& config,
           matrix_kernel<T> kernel) {
  check(launch(queue, config, kernel, static_cast<T*>(a.out), static_cast<const T*>(a.in), a.rows, a.cols, a.repeats),
        "launch of a transpose rung");
}

// One class a rung: the kernel for an element type and a block.
struct copy_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::copy<T, X, Y>;
  }
};
struct naive_row_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::naive_row<T, X, Y>;
  }
};
struct naive_col_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::naive_col<T, X, Y>;
  }
};
struct copy_shared_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::copy_shared<T, X, Y>;
  }
  static constexpr int pad = 0;
};
template <int Pad, bool Diagonal>
struct tiled_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::tiled<T, X, Y, Pad, Diagonal>;
  }
  static constexpr int pad = Pad;
};
struct unrolled_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::unrolled<T, X, Y>;
  }
  static constexpr int pad = 1;
};
struct fine_grained_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::fine_grained<T, X, Y>;
  }
  static constexpr int pad = 1;
};
struct coarse_grained_rung {
  template <class T, int X, int Y>
  static matrix_kernel<T> kernel() {
    return &kernels::coarse_grained<T, X, Y>;
  }
  static constexpr int pad = 1;
};

template <class Rung>
void run_tiled(const work_queue& queue, const transpose_rung_args& a) {
  const auto config = tile_grid(a.cols, a.rows, a.block.x, a.block.x, a.block);
  const auto with_block = [](block_shape block, auto&& f) { with_tiled_block(block, f); };
  with_compiled(a.element_bytes, a.block, with_block, [&](auto element, auto block) {
    using element_type = decltype(element);
    start<element_type>(queue, a, config,
                        Rung::template kernel<element_type, decltype(block)::x, decltype(block)::y>());
  });
}

template <class Rung>
void run_untiled(const work_queue& queue, const transpose_rung_args& a, std::int64_t width, std::int64_t height) {
  const auto config = tile_grid(width, height, a.block.x, std::max(a.block.x, a.block.y), a.block);
  const auto with_block = [](block_shape block, auto&& f) { with_untiled_block(block, f); };
  with_compiled(a.element_bytes, a.block, with_block, [&](auto element, auto block) {
    using element_type = decltype(element);
    start<element_type>(queue, a, config,
                        Rung::template kernel<element_type, decltype(block)::x, decltype(block)::y>());
  });
}

template <class Rung>
void run_over_input(const work_queue& queue, const transpose_rung_args& a) {
  run_untiled<Rung>(queue, a, a.cols, a.rows);
}

template <class Rung>
void run_over_output(const work_queue& queue, const transpose_rung_args& a) {
  run_untiled<Rung>(queue, a, a.rows, a.cols);
}

template <class Rung>
std::size_t tile_bytes(std::int64_t element_bytes, block_shape block) {
  return static_cast<std::size_t>(block.x * (block.x + Rung::pad) * element_bytes);
}

constexpr block_shape b32x8{32, 8};

template <class Rung>
constexpr detail::transpose_rung_entry tiled_entry(std::string_view name, std::string_view lesson,
                                                   std::string_view source, rung_promise promise) {
  return {{"transpose", name, lesson, source, promise, b32x8, true},
          tiled_blocks,
          &tile_bytes<Rung>,
          &run_tiled<Rung>,
          &is_compiled};
}

const detail::transpose_rung_entry transpose_table[] = {
    {{"transpose", "copy", "no transpose: what a plain kernel reaches", ruetsch, rung_promise::copy, b32x8, true},
     untiled_blocks,
     nullptr,
     &run_over_input<copy_rung>,
     &is_compiled},
    tiled_entry<copy_shared_rung>("copy-shared", "the copy through a shared tile: what staging and a barrier cost",
                                  ruetsch, rung_promise::copy),
    {{"transpose", "naive-row", "loads by rows; every lane stores to another line", cheng, rung_promise::transpose,
      b32x8, true},
     untiled_blocks,
     nullptr,
     &run_over_input<naive_row_rung>,
     &is_compiled},
    {{"transpose", "naive-col", "stores by rows; every lane loads from another line", cheng, rung_promise::transpose,
      b32x8, true},
     untiled_blocks,
     nullptr,
     &run_over_output<naive_col_rung>,
     &is_compiled},
    tiled_entry<tiled_rung<0, false>>("coalesced", "through a shared tile: loads and stores are both coalesced",
                                      ruetsch, rung_promise::transpose),
    tiled_entry<tiled_rung<1, false>>("conflict-free", "a padded tile: its columns lie in different banks", ruetsch,
                                      rung_promise::transpose),
    tiled_entry<unrolled_rung>("unrolled",
                               "more in flight for each thread: shared loads back to back, addresses stepped", slides,
                               rung_promise::transpose),
    tiled_entry<fine_grained_rung>("fine-grained", "only inside the tiles: half of the work, to see its cost", ruetsch,
                                   rung_promise::tiles_transposed),
    tiled_entry<coarse_grained_rung>("coarse-grained", "only the tiles move: the other half", ruetsch,
                                     rung_promise::tiles_moved),
    tiled_entry<tiled_rung<1, true>>("diagonal", "blocks in diagonal order: no partition camping (before sm_20)",
                                     ruetsch, rung_promise::transpose),
};

}  // namespace

detail::table_view<detail::transpose_rung_entry> transpose_ladder() {
  return {transpose_table, std::size(transpose_table)};
}

}  // namespace twill::TWILL_BACKEND
