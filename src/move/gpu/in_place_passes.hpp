#pragma once

// Rectangular matrices, transposed in place by passes that each stay within rows or within columns (Catanzaro,
// Keller and Garland, 2014). On the matrix as it lies before, `height` x `length` elements with c = gcd, b = length /
// c:
//   rotate   column j rotates up by j / b rows                     (only where c > 1)
//   row      in row r, column j goes to (j * height + (r + j / b) mod height) mod length
//   column   row i of column j takes what is in row (k mod height - k / height / b) mod height, k = i * length + j
// Backwards, the passes undo the transpose of the matrix with both extents swapped. A pass goes through shared memory,
// or where a row or a column is too long for it, through scratch memory.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

enum class in_place_pass { rotate, row, column };

struct in_place_grid {
  std::int64_t height, length;  // elements; height <= length
  std::int64_t b;               // length / gcd(height, length)
  std::int64_t stride;          // bytes from one matrix to the next
  int units;                    // of an element
  bool backwards;
};

// The other row of a column pass: forwards, what ends in row `i` comes from there; backwards, it goes there.
__device__ inline std::int64_t other_row(const in_place_grid& g, in_place_pass pass, std::int64_t i, std::int64_t j) {
  if (pass == in_place_pass::rotate) return (i + j / g.b) % g.height;
  const std::int64_t k = i * g.length + j, above = k / g.height;
  return (k - above * g.height + g.height - above / g.b) % g.height;
}

// The other column of a row pass: forwards, column `j` goes there; backwards, it comes from there.
__device__ inline std::int64_t other_column(const in_place_grid& g, std::int64_t r, std::int64_t j) {
  return (j * g.height + (r + j / g.b) % g.height) % g.length;
}

/// A step along a row by some units, worked out on the host: how each part of a position moves.
struct row_step {
  int unit, to, block, in_block;
};

// A unit of a row and where its element belongs, kept up to date without a division.
struct row_position {
  int unit;             // in the element
  int to;               // j * height mod length
  int block, in_block;  // j / b, j mod b

  __device__ void wrap(const in_place_grid& g) {
    const int length = static_cast<int>(g.length), b = static_cast<int>(g.b);
    if (to >= length) to -= length;
    if (in_block >= b) {
      in_block -= b;
      ++block;
    }
  }
  __device__ void next_unit(const in_place_grid& g) {
    if (++unit < g.units) return;
    unit = 0;
    next_element(g);
  }
  __device__ void next_element(const in_place_grid& g) {
    to += static_cast<int>(g.height);
    ++in_block;
    wrap(g);
  }
  __device__ void move(const in_place_grid& g, const row_step& by) {
    unit += by.unit;
    to += by.to;
    block += by.block;
    in_block += by.in_block;
    wrap(g);
    if (unit < g.units) return;
    unit -= g.units;
    next_element(g);
  }
  // The unit's place in the row, in units, after the pass.
  __device__ int place(const in_place_grid& g, int row) const {
    const int height = static_cast<int>(g.height), length = static_cast<int>(g.length);
    int column = row + block;
    if (column >= height) column -= height;
    column += to;
    if (column >= length) column -= length;
    return column * g.units + unit;
  }
};

// A row a block, all of it in shared memory. `step` moves by a chunk of 16 bytes for each thread.
template <class Unit>
__global__ void __launch_bounds__(1024)
    in_place_row(unsigned char* data, in_place_grid g, row_step step, std::int64_t batch) {
  constexpr int size = static_cast<int>(sizeof(Unit)), count = 16 / size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t place = block_index(), matrix = place / g.height;
  if (matrix >= batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int row = static_cast<int>(place - matrix * g.height), end = static_cast<int>(g.length) * g.units * size;
  data += matrix * g.stride + static_cast<std::int64_t>(row) * end;
  const int skip = misalignment(data);
  Unit* units = reinterpret_cast<Unit*>(shared + skip);

  row_position first{};
  {
    // The first chunk may begin before the row: its position there is counted back.
    const int unit = (static_cast<int>(threadIdx.x) * 16 - skip) / size;
    const std::int64_t j = unit >= 0 ? unit / g.units : -((g.units - 1 - unit) / g.units);
    first.unit = static_cast<int>(unit - j * g.units);
    first.to = static_cast<int>((j * g.height % g.length + g.length) % g.length);
    first.block = static_cast<int>(j >= 0 ? j / g.b : -((g.b - 1 - j) / g.b));
    first.in_block = static_cast<int>(j - first.block * g.b);
  }
  row_position at = first;
  for (int begin = static_cast<int>(threadIdx.x) * 16 - skip; begin < end; begin += static_cast<int>(blockDim.x) * 16) {
    const bool inside = begin >= 0 && begin + 16 <= end;
    unit_chunk<Unit> v;
    if (inside) v.load(*reinterpret_cast<const word16*>(data + begin));
    row_position each = at;
#pragma unroll
    for (int u = 0; u < count; ++u) {
      const int byte = begin + u * size;
      if (byte >= 0 && byte < end) {
        if (!inside) v.unit[u] = *reinterpret_cast<const Unit*>(data + byte);
        units[g.backwards ? byte / size : each.place(g, row)] = v.unit[u];
      }
      each.next_unit(g);
    }
    at.move(g, step);
  }
  __syncthreads();

  at = first;
  for (int begin = static_cast<int>(threadIdx.x) * 16 - skip; begin < end; begin += static_cast<int>(blockDim.x) * 16) {
    const bool inside = begin >= 0 && begin + 16 <= end;
    unit_chunk<Unit> v;
    row_position each = at;
#pragma unroll
    for (int u = 0; u < count; ++u) {
      const int byte = begin + u * size;
      if (byte >= 0 && byte < end) {
        v.unit[u] = units[g.backwards ? each.place(g, row) : byte / size];
        if (!inside) *reinterpret_cast<Unit*>(data + byte) = v.unit[u];
      }
      each.next_unit(g);
    }
    if (inside) *reinterpret_cast<word16*>(data + begin) = v.packed();
    at.move(g, step);
  }
}

// For rows too long for shared memory whose elements, cut into a few parts, are not: a block takes a row, and one part
// of all its elements after the other. All parts move the same way.
struct row_parts {
  in_place_grid grid;  // a part counts as its unit, so `units` is 1
  row_step step;       // from an element of a thread to its next
  int parts;           // of an element
  std::int64_t batch;
};

template <class Part>
__global__ void __launch_bounds__(1024) in_place_row_parts(unsigned char* data, row_parts m) {
  const in_place_grid& g = m.grid;
  const std::int64_t place = block_index(), matrix = place / g.height;
  if (matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int row = static_cast<int>(place - matrix * g.height), length = static_cast<int>(g.length);
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  Part* line = reinterpret_cast<Part*>(data + matrix * g.stride) + row * g.length * m.parts;
  Part* shared = dynamic_shared<Part>();

  row_position start{};
  start.to = static_cast<int>(first * g.height % g.length);
  start.block = static_cast<int>(first / g.b);
  start.in_block = static_cast<int>(first - start.block * g.b);
  for (int part = 0; part < m.parts; ++part) {
    row_position at = start;
    for (int j = first; j < length; j += step) {
      shared[g.backwards ? j : at.place(g, row)] = line[static_cast<std::int64_t>(j) * m.parts + part];
      at.move(g, m.step);
    }
    __syncthreads();
    at = start;
    for (int j = first; j < length; j += step) {
      line[static_cast<std::int64_t>(j) * m.parts + part] = shared[g.backwards ? at.place(g, row) : j];
      at.move(g, m.step);
    }
    __syncthreads();
  }
}

/// Columns that a block loads to shared memory, all rows of them.
struct column_strip {
  std::int64_t strips, batch;
  int width;  // bytes, a power of two
  // From one row to the next that a thread has: k * length / height, split by b, and the rest.
  std::int64_t block, in_block;
  int row;
};

// Where a column pass takes a unit from, or stores it to, kept up to date without a division.
struct column_position {
  int unit;                      // in the element
  int row;                       // rotate: row; column: k mod height
  std::int64_t block, in_block;  // rotate: j / b, j mod b; column: the same of k / height

  __device__ void start(const in_place_grid& g, in_place_pass pass, std::int64_t i, std::int64_t unit_column) {
    const std::int64_t j = unit_column / g.units, k = i * g.length + j;
    const std::int64_t above = pass == in_place_pass::rotate ? j : k / g.height;
    unit = static_cast<int>(unit_column - j * g.units);
    row = static_cast<int>(pass == in_place_pass::rotate ? i : k - above * g.height);
    block = above / g.b;
    in_block = above - block * g.b;
  }
  __device__ void next_unit(const in_place_grid& g, in_place_pass pass) {
    if (++unit < g.units) return;
    unit = 0;
    if (pass == in_place_pass::column) {
      if (++row < g.height) return;
      row = 0;
    }
    if (++in_block < g.b) return;
    in_block = 0;
    ++block;
  }
  __device__ void down(const in_place_grid& g, const column_strip& s, in_place_pass pass) {
    row += s.row;
    if (pass == in_place_pass::rotate) return;
    block += s.block;
    in_block += s.in_block;
    if (row >= g.height) {
      row -= static_cast<int>(g.height);
      ++in_block;
    }
    if (in_block >= g.b) {
      in_block -= g.b;
      ++block;
    }
  }
  __device__ int place(const in_place_grid& g, in_place_pass pass) const {
    const int height = static_cast<int>(g.height), rotation = static_cast<int>(block);
    const int to = pass == in_place_pass::rotate ? row + rotation : row - rotation;
    return to < 0 ? to + height : to >= height ? to - height : to;
  }
};

// A strip of columns a block, all of it in shared memory; it is read and written in pieces, which rows are multiples of
// and aligned for.
template <class Unit, class Piece>
__global__ void __launch_bounds__(1024)
    in_place_column(unsigned char* data, in_place_grid g, column_strip s, in_place_pass pass) {
  constexpr int size = static_cast<int>(sizeof(Unit)), piece = static_cast<int>(sizeof(Piece)), count = piece / size;
  using chunk = unit_chunk<Unit, Piece>;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t place = block_index(), matrix = place / s.strips;
  if (matrix >= s.batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const std::int64_t pitch = g.length * g.units * size, left = (place - matrix * s.strips) * s.width;
  const int across = s.width / piece, x = static_cast<int>(threadIdx.x) % across * piece;
  const int first = static_cast<int>(threadIdx.x) / across, step = static_cast<int>(blockDim.x) / across;
  const bool inside = left + x < pitch;
  const int height = static_cast<int>(g.height);
  data += matrix * g.stride + left + x;
  column_position start;
  start.start(g, pass, first, (left + x) / size);

  column_position at = start;
  for (int y = first; inside && y < height; y += step) {
    chunk v;
    v.load(*reinterpret_cast<const Piece*>(data + y * pitch));
    if (g.backwards) {
      column_position each = at;
#pragma unroll
      for (int u = 0; u < count; ++u) {
        *reinterpret_cast<Unit*>(shared + each.place(g, pass) * s.width + x + u * size) = v.unit[u];
        each.next_unit(g, pass);
      }
      at.down(g, s, pass);
    } else {
      *reinterpret_cast<Piece*>(shared + y * s.width + x) = v.packed();
    }
  }
  __syncthreads();

  at = start;
  for (int y = first; inside && y < height; y += step) {
    chunk v;
    if (g.backwards) {
      v.load(*reinterpret_cast<const Piece*>(shared + y * s.width + x));
    } else {
      column_position each = at;
#pragma unroll
      for (int u = 0; u < count; ++u) {
        v.unit[u] = *reinterpret_cast<const Unit*>(shared + each.place(g, pass) * s.width + x + u * size);
        each.next_unit(g, pass);
      }
      at.down(g, s, pass);
    }
    *reinterpret_cast<Piece*>(data + y * pitch) = v.packed();
  }
}

/// A rectangle of one matrix: a full row, or some full columns.
struct in_place_strip {
  std::int64_t row, col, rows, cols;  // elements
};

// A pass over a strip, from the matrix to packed scratch memory; `copy_from_scratch` copies it back.
template <class Unit>
__global__ void __launch_bounds__(256) in_place_to_scratch(unsigned char* scratch, const unsigned char* data,
                                                           in_place_grid g, in_place_strip s, in_place_pass pass) {
  const std::int64_t index = block_index() * 256 + threadIdx.x, line = s.cols * g.units;
  if (index >= s.rows * line) return;
  wait_then_trigger_dependents();
  const std::int64_t y = index / line, x = (index - y * line) / g.units, unit = index - y * line - x * g.units;
  // A row pass moves the unit to another column of its row; a column pass takes it from another row. Backwards it is
  // the other way round.
  const bool along_row = pass == in_place_pass::row, takes = along_row == g.backwards;
  const std::int64_t other = along_row ? other_column(g, s.row + y, x) : other_row(g, pass, y, s.col + x);
  const std::int64_t from_row = !along_row && takes ? other : y, from_col = along_row && takes ? other : x;
  const std::int64_t to_row = !along_row && !takes ? other : y, to_col = along_row && !takes ? other : x;
  const std::int64_t from = ((s.row + from_row) * g.length + s.col + from_col) * g.units + unit;
  const std::int64_t to = (to_row * s.cols + to_col) * g.units + unit;
  reinterpret_cast<Unit*>(scratch)[to] = reinterpret_cast<const Unit*>(data)[from];
}

template <class Unit>
__global__ void __launch_bounds__(256)
    copy_from_scratch(unsigned char* data, const unsigned char* scratch, in_place_grid g, in_place_strip s) {
  const std::int64_t index = block_index() * 256 + threadIdx.x, line = s.cols * g.units;
  if (index >= s.rows * line) return;
  wait_then_trigger_dependents();
  const std::int64_t y = index / line, x = index - y * line;
  reinterpret_cast<Unit*>(data)[((s.row + y) * g.length + s.col) * g.units + x] =
      reinterpret_cast<const Unit*>(scratch)[index];
}

}  // namespace twill::TWILL_BACKEND::kernels
