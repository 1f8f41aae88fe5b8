#include "cells.hpp"

#include <stdexcept>

namespace grid {
namespace {

using extents = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr std::int64_t mega = std::int64_t{1} << 20;

const std::vector<std::int64_t> whole_sizes = {1, 2, 4, 8, 16};
const std::vector<std::int64_t> odd_sizes = {3, 5, 6, 7, 12, 24};

const extents& grid_shapes() {
  static const extents shapes = {{1024, 1024},   {2048, 2048},  {4096, 4096},  {8192, 8192},
                                 {16384, 16384}, {8191, 8193},  {10000, 7000}, {mega, 32},
                                 {32, mega},     {4 * mega, 3}, {3, 4 * mega}, {16 * mega, 8}};
  return shapes;
}

std::vector<cell> product(const extents& shapes, const std::vector<std::int64_t>& sizes, std::int64_t most_bytes) {
  std::vector<cell> cells;
  for (const auto& [rows, cols] : shapes) {
    for (const std::int64_t bytes : sizes) {
      if (rows * cols * bytes <= most_bytes) cells.push_back({bytes, rows, cols, 1});
    }
  }
  return cells;
}

/// Batches that make `bytes` in all.
std::vector<cell> batches(const extents& shapes, const std::vector<std::int64_t>& sizes, std::int64_t bytes) {
  std::vector<cell> cells;
  for (const auto& [rows, cols] : shapes) {
    for (const std::int64_t each : sizes) cells.push_back({each, rows, cols, bytes / (rows * cols * each)});
  }
  return cells;
}

const extents& small_matrices() {
  static const extents shapes = {{2, 2}, {3, 3}, {4, 4}, {5, 7}, {8, 8}, {16, 16}, {32, 32}, {33, 31}, {64, 64}};
  return shapes;
}

std::vector<cell> in_place_cells() {
  const extents shapes = {{1024, 1024},  {4096, 4096},  {8192, 8192},   {8191, 8191},  {10000, 10000}, {16384, 16384},
                          {10000, 7000}, {8191, 8193},  {4096, 16384},  {16384, 4096}, {mega, 32},     {32, mega},
                          {4 * mega, 3}, {3, 4 * mega}, {16 * mega, 8}, {1000003, 31}};
  std::vector<cell> cells = product(shapes, whole_sizes, 2048 * mega);
  for (const cell& each : batches(small_matrices(), whole_sizes, 256 * mega)) cells.push_back(each);
  return cells;
}

/// 1 to 300, finer where it is small and around multiples of 32.
std::vector<std::int64_t> sweep_extents() {
  std::vector<std::int64_t> list;
  for (std::int64_t n = 1; n <= 300; ++n) {
    const bool edge = n % 32 <= 1 || n % 32 == 31;
    if (n <= 17 || (n <= 68 && edge) || (n > 68 && n % 64 <= 1) || n % 50 == 0 || n % 29 == 0) list.push_back(n);
  }
  return list;
}

}  // namespace

std::string shape_text(const cell& which) {
  const auto number = [](std::int64_t n) {
    int power = 0;
    while (n >> power > 1) ++power;
    return power >= 20 && n == std::int64_t{1} << power ? "2^" + std::to_string(power) : std::to_string(n);
  };
  const std::string gap = which.gap > 0 ? "+" + std::to_string(which.gap) : "";
  return number(which.rows) + "x" + number(which.cols) + gap;
}

std::string type_text(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return "u8";
    case 2:
      return "u16";
    case 4:
      return "u32";
    case 8:
      return "u64";
    case 16:
      return "c128";
    default:
      return "b" + std::to_string(element_bytes);
  }
}

std::vector<std::string> part_names() {
  return {"main", "odd", "batched", "strided", "in-place", "small", "sweep-batched", "sweep-square"};
}

part make_part(const std::string& name) {
  const std::vector<std::string> peers = {"tuned", "conflict-free", "cublas-geam", "rocblas-geam", "openblas-omatcopy"};
  const std::vector<std::string> tuned = {"tuned"};
  if (name == "main") {
    return {name, "5 element sizes x 12 shapes", peers, product(grid_shapes(), whole_sizes, INT64_MAX)};
  }
  if (name == "odd") {
    return {name, "odd element sizes, up to 2 GiB", tuned, product(grid_shapes(), odd_sizes, 2048 * mega)};
  }
  if (name == "batched") {
    return {name, "small matrices, 256 MiB in all", tuned, batches(small_matrices(), whole_sizes, 256 * mega)};
  }
  if (name == "strided") {
    part strided{name, "small matrices with gaps, 128 MiB in all", tuned, {}};
    strided.cells = batches(small_matrices(), whole_sizes, 128 * mega);
    for (cell& each : strided.cells) each.gap = 1;
    return strided;
  }
  if (name == "in-place") {
    return {name, "in place, with the least and with fast scratch, up to 2 GiB", {"least", "fast"}, in_place_cells()};
  }
  if (name == "small") {
    const extents shapes = {{32, 32},   {64, 64},     {128, 128}, {256, 256},
                            {512, 512}, {1024, 1024}, {500, 300}, {4096, 16}};
    return {name, "up to 1 MiB", tuned, product(shapes, whole_sizes, mega)};
  }
  part sweep{name, "", tuned, {}, 6};
  if (name == "sweep-batched") {
    sweep.title = "batches of rows x cols, about 64 MiB in all";
    extents shapes;
    for (const std::int64_t rows : sweep_extents()) {
      for (const std::int64_t cols : sweep_extents()) shapes.emplace_back(rows, cols);
    }
    sweep.cells = batches(shapes, {4}, 64 * mega);
    return sweep;
  }
  if (name == "sweep-square") {
    sweep.title = "squares of 4000 to 4200";
    for (const std::int64_t bytes : whole_sizes) {
      for (std::int64_t n = 4000; n <= 4200; ++n) sweep.cells.push_back({bytes, n, n, 1});
    }
    return sweep;
  }
  throw std::invalid_argument("no part \"" + name + "\"");
}

}  // namespace grid
