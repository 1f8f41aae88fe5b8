// Which kernels transpose in place. Square matrices swap tiles in one pass; small ones go through shared memory whole;
// others are transposed into scratch memory and copied back where that is large enough, else turned by passes over rows
// and columns. The choice depends on shape, strides, alignment and scratch alone and takes constant time.

#include <algorithm>
#include <numeric>

#include "kernels/swap_tiles.hpp"
#include "kernels/turn_matrices.hpp"
#include "kernels/turn_passes.hpp"

#include "ops/table.hpp"
#include "ops/transpose_plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_in_place_args;
using detail::work_queue;
using kernels::turn_grid;
using kernels::turn_pass;

constexpr const char* call = "launch of transpose_in_place";

std::int64_t floor_power(std::int64_t value) {
  std::int64_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}
std::int64_t shared_of(const work_queue& queue) {
  return static_cast<std::int64_t>(queue.device->properties().shared_bytes_per_block);
}

unsigned char* bytes_of(void* memory) {
  return static_cast<unsigned char*>(memory);
}

// The lowest bit of all row addresses; 16 at most.
std::int64_t alignment_of(const transpose_in_place_args& a) {
  const std::int64_t strides = a.ld | (a.batch > 1 ? a.stride : 0);
  return lowest_bit(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.data)) | strides * a.element_bytes |
                    16);
}

// Calls f with a value of the unsigned type of `bytes` bytes: 1, 2, 4, 8, else 16.
template <class F>
void with_unit(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(word16{});
  }
}

// --- square matrices -------------------------------------------------------------------------------------------------

kernels::square_matrices square_of(const transpose_in_place_args& a, std::int64_t edge) {
  kernels::square_matrices m{};
  m.extent = a.rows;
  m.batch = a.batch;
  m.ld = a.ld * a.element_bytes;
  m.stride = a.stride * a.element_bytes;
  m.edge = static_cast<int>(edge);
  const std::int64_t tiles = ceil_div(a.rows, edge);
  m.pairs = tiles * (tiles + 1) / 2;
  return m;
}

template <int Bytes, int Lines>
void swap_aligned(const work_queue& queue, const transpose_in_place_args& a) {
  using shape = kernels::swap_shape<Bytes, Lines>;
  const auto m = square_of(a, shape::tile);
  const auto config = grid_of(m.pairs * a.batch, 2 * shape::threads, 2 * shape::chunks * 16);
  check(launch(queue, config, &kernels::swap_tiles<Bytes, Lines>, bytes_of(a.data), m), call);
}

// Whether the aligned kernel has run.
bool swap_aligned(const work_queue& queue, const transpose_in_place_args& a) {
  if (alignment_of(a) < 16 || a.rows * a.element_bytes % 16 != 0 || shared_of(queue) < 40 * 1024) return false;
  switch (a.element_bytes) {
    case 1:
      swap_aligned<1, 8>(queue, a);
      return true;
    case 2:
      swap_aligned<2, 8>(queue, a);
      return true;
    case 4:
      swap_aligned<4, 16>(queue, a);
      return true;
    case 8:
      swap_aligned<8, 16>(queue, a);
      return true;
    case 16:
      swap_aligned<16, 32>(queue, a);
      return true;
    default:
      return false;
  }
}

template <class Unit>
void swap_by_unit(const work_queue& queue, const transpose_in_place_args& a) {
  constexpr std::int64_t odd = std::max<std::int64_t>(4, sizeof(Unit));  // rows an odd number of these apart
  std::int64_t edge = std::clamp<std::int64_t>(floor_power(256 / a.element_bytes), 8, 128);
  const auto pitch = [&] { return (ceil_div(edge * a.element_bytes, odd) | 1) * odd; };
  while (edge > 1 && 2 * edge * pitch() > std::min<std::int64_t>(shared_of(queue), 40 * 1024)) edge /= 2;
  auto m = square_of(a, edge);
  m.units = static_cast<int>(a.element_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  m.pitch = static_cast<int>(pitch());
  check(launch(queue, grid_of(m.pairs * a.batch, 256, 2 * edge * pitch()), &kernels::swap_tiles_by_unit<Unit>,
               bytes_of(a.data), m),
        call);
}

// --- small matrices --------------------------------------------------------------------------------------------------

std::uint64_t reciprocal(std::int64_t divisor) {
  return static_cast<std::uint64_t>(ceil_div(std::int64_t{1} << 40, divisor));
}

// Bytes of shared memory, padding included, that a run of so many bytes takes wherever it begins.
std::int64_t padded_bytes(std::int64_t run, int pad_shift) {
  const std::int64_t whole = ceil_div(run + 15, 16) * 16;
  return whole + (whole >> pad_shift) * 16;
}

// 16 bytes now and then spread what neighbouring lanes take from one column over the banks.
int pad_shift_of(const transpose_in_place_args& a) {
  const std::int64_t row = a.cols * a.element_bytes;
  const std::int64_t apart = lowest_bit(row * std::max<std::int64_t>(1, 16 / a.element_bytes));
  int shift = 7;
  while (std::int64_t{1} << shift < apart) ++shift;
  return apart > 32 ? shift : 31;
}

bool fits_shared(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t limit = shared_of(queue);
  return a.cols <= limit && a.rows * a.cols <= limit / a.element_bytes &&
         padded_bytes(a.rows * a.cols * a.element_bytes, pad_shift_of(a)) <= limit;
}

template <class Unit>
void turn_whole(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes,
                     budget = std::min<std::int64_t>(16384, shared_of(queue) / 2);
  kernels::whole_matrices m{};
  m.batch = a.batch;
  m.stride = a.stride * a.element_bytes;
  m.rows = static_cast<int>(a.rows);
  m.cols = static_cast<int>(a.cols);
  m.units = static_cast<int>(a.element_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  m.bytes = static_cast<int>(bytes);
  m.pad_shift = pad_shift_of(a);
  m.by_rows = reciprocal(a.rows);
  m.by_cols = reciprocal(a.cols);
  m.by_units = reciprocal(m.units);
  const std::int64_t period = bytes / std::min<std::int64_t>(16, lowest_bit(bytes));
  const bool gapless = a.batch == 1 || m.stride == bytes;
  // So many that the next block's matrices begin at a line, if that many fit.
  const std::int64_t count = std::max<std::int64_t>(1, budget / bytes),
                     line = 128 / std::min<std::int64_t>(128, lowest_bit(bytes));
  m.at_once = gapless ? static_cast<int>(std::min(a.batch, count >= line ? count / line * line : count)) : 1;
  const std::int64_t run = m.at_once * bytes;
  const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(ceil_div(run, 64), 32) * 32, 32, 1024);
  m.period = period <= threads ? static_cast<int>(period) : 0;
  check(launch(queue, grid_of(ceil_div(a.batch, m.at_once), threads, padded_bytes(run, m.pad_shift)),
               &kernels::turn_matrices<Unit>, bytes_of(a.data), m),
        call);
}

// --- with a scratch matrix -------------------------------------------------------------------------------------------

void turn_by_copy(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t matrix = a.rows * a.cols, bytes = matrix * a.element_bytes;
  const std::int64_t at_once = std::min(a.batch, a.scratch_bytes / bytes);
  for (std::int64_t first = 0; first < a.batch; first += at_once) {
    const std::int64_t count = std::min(at_once, a.batch - first);
    unsigned char* data = bytes_of(a.data) + first * a.stride * a.element_bytes;
    transpose(queue, {data, a.scratch, a.element_bytes, a.rows, a.cols, count, a.cols, a.rows, a.stride, matrix});
    const bool gapless = count == 1 || a.stride == matrix;
    for (std::int64_t i = 0; i < (gapless ? 1 : count); ++i) {
      queue.device->copy(queue.native, data + i * a.stride * a.element_bytes, bytes_of(a.scratch) + i * bytes,
                         static_cast<std::size_t>(gapless ? count * bytes : bytes),
                         detail::copy_direction::device_to_device);
    }
  }
}

// --- by passes over rows and columns ---------------------------------------------------------------------------------

template <class Unit>
class passes {
 public:
  passes(const work_queue& queue, const transpose_in_place_args& a) : queue_(queue), a_(a), grid_{} {
    grid_.height = std::min(a.rows, a.cols);
    grid_.length = std::max(a.rows, a.cols);
    grid_.b = grid_.length / std::gcd(a.rows, a.cols);
    grid_.stride = a.stride * a.element_bytes;
    grid_.units = static_cast<int>(a.element_bytes / size);
    grid_.backwards = a.rows > a.cols;
  }

  void run() {
    const bool coprime = grid_.b == grid_.length;
    if (!grid_.backwards && !coprime) columns(turn_pass::rotate);
    if (grid_.backwards) columns(turn_pass::column);
    rows();
    if (!grid_.backwards) columns(turn_pass::column);
    if (grid_.backwards && !coprime) columns(turn_pass::rotate);
  }

 private:
  static constexpr std::int64_t size = sizeof(Unit);

  void rows() {
    const std::int64_t bytes = grid_.length * a_.element_bytes, shared = ceil_div(bytes + 15, 16) * 16;
    if (shared > shared_of(queue_)) {
      each_strip(turn_pass::row, {0, 0, 1, grid_.length});
      return;
    }
    const std::int64_t most = std::min<std::int64_t>(1024, queue_.device->properties().max_threads_per_block);
    const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(ceil_div(bytes, 128), 32) * 32, 32, most);
    const std::int64_t units = threads * 16 / size, elements = units / grid_.units;
    const kernels::row_step turn{static_cast<int>(units % grid_.units),
                                 static_cast<int>(elements * grid_.height % grid_.length),
                                 static_cast<int>(elements / grid_.b), static_cast<int>(elements % grid_.b)};
    check(launch(queue_, grid_of(grid_.height * a_.batch, threads, shared), &kernels::turn_row<Unit>, bytes_of(a_.data),
                 grid_, turn, a_.batch),
          call);
  }

  void columns(turn_pass pass) {
    const std::int64_t pitch = grid_.length * a_.element_bytes, limit = shared_of(queue_);
    const bool aligned = alignment_of(a_) == 16 && pitch % 16 == 0;
    std::int64_t width = 128;
    while (width > size && (grid_.height > limit / 2 / width)) width /= 2;
    if (width <= 16 && grid_.height <= limit / 32) width = 32;
    if (grid_.height > limit / width) {
      each_strip(pass,
                 {0, 0, grid_.height, std::max<std::int64_t>(1, a_.scratch_bytes / (grid_.height * a_.element_bytes))});
      return;
    }
    if (aligned && width >= 16) {
      columns<word16>(pass, width);
    } else {
      columns<Unit>(pass, width);
    }
  }

  template <class Piece>
  void columns(turn_pass pass, std::int64_t width) {
    const std::int64_t pieces = width / static_cast<std::int64_t>(sizeof(Piece));
    const std::int64_t most = std::min<std::int64_t>(1024, queue_.device->properties().max_threads_per_block);
    const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(grid_.height * pieces / 8, 128) * 128, 128, most);
    const std::int64_t step = threads / pieces, above = step * grid_.length / grid_.height;
    kernels::column_strip s{};
    s.strips = ceil_div(grid_.length * a_.element_bytes, width);
    s.batch = a_.batch;
    s.width = static_cast<int>(width);
    s.block = above / grid_.b;
    s.in_block = above % grid_.b;
    s.row = static_cast<int>(pass == turn_pass::rotate ? step : step * grid_.length % grid_.height);
    check(launch(queue_, grid_of(s.strips * a_.batch, threads, grid_.height * width),
                 &kernels::turn_columns<Unit, Piece>, bytes_of(a_.data), grid_, s, pass),
          call);
  }

  // A pass strip by strip through scratch memory.
  void each_strip(turn_pass pass, kernels::turn_strip s) {
    const std::int64_t cols = s.cols, lines = pass == turn_pass::row ? grid_.height : 1;
    unsigned char* scratch = bytes_of(a_.scratch);
    for (std::int64_t matrix = 0; matrix < a_.batch; ++matrix) {
      unsigned char* data = bytes_of(a_.data) + matrix * grid_.stride;
      for (s.row = 0; s.row < lines; ++s.row) {
        for (s.col = 0; s.col < grid_.length; s.col += cols) {
          s.cols = std::min(cols, grid_.length - s.col);
          const auto config = grid_of(ceil_div(s.rows * s.cols * grid_.units, 256), 256, 0);
          check(launch(queue_, config, &kernels::turn_to_scratch<Unit>, scratch, data, grid_, s, pass), call);
          check(launch(queue_, config, &kernels::copy_strip<Unit>, data, scratch, grid_, s), call);
        }
      }
    }
  }

  work_queue queue_;
  transpose_in_place_args a_;
  turn_grid grid_;
};

}  // namespace

void transpose_in_place(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t unit = std::min(alignment_of(a), lowest_bit(a.element_bytes));
  if (a.ld == a.cols && fits_shared(queue, a) && (a.rows != a.cols || a.rows * a.cols * a.element_bytes <= 4096)) {
    with_unit(unit, [&](auto one) { turn_whole<decltype(one)>(queue, a); });
  } else if (a.rows == a.cols) {
    if (swap_aligned(queue, a)) return;
    with_unit(unit, [&](auto one) { swap_by_unit<decltype(one)>(queue, a); });
  } else if (a.scratch_bytes >= a.rows * a.cols * a.element_bytes) {
    turn_by_copy(queue, a);
  } else {
    const auto scratch = lowest_bit(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.scratch)) | 16);
    with_unit(std::min(unit, scratch), [&](auto one) { passes<decltype(one)>(queue, a).run(); });
  }
}

}  // namespace twill::TWILL_BACKEND
