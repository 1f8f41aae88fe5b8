// Shapes that have kernels of their own: batches of small matrices, and elements of odd sizes.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include <twill/twill.hpp>

#include "support/arena.hpp"
#include "support/cases.hpp"
#include "support/moving_calls.hpp"
#include "support/transpose_case.hpp"

using support::check_case;
using support::on_each_device;

namespace {

// By the kernel that the planner chooses, and by that of odd element sizes, which small matrices rarely get.
void check_odd_size(twill::stream_ref stream, const twill::transpose_shape& s, std::int64_t bytes,
                    std::size_t in_offset, std::size_t out_offset, std::uint32_t seed) {
  check_case(stream, s, bytes, in_offset, out_offset, seed);
  const auto given_or = [](std::int64_t given, std::int64_t packed) { return given ? given : packed; };
  const std::int64_t in_ld = given_or(s.in_ld, s.cols), out_ld = given_or(s.out_ld, s.rows);
  const twill::permute_shape matrices{{s.batch, s.rows, s.cols},
                                      {0, 2, 1},
                                      {given_or(s.in_stride, s.rows * in_ld), in_ld, 1},
                                      {given_or(s.out_stride, s.cols * out_ld), out_ld, 1}};
  const auto call = support::permute_call(matrices, bytes, in_offset, out_offset, support::matrix_kernel + "0");
  const std::string wrong = support::run_tightly(stream, call);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

}  // namespace

TEST_SUITE_BEGIN("transpose batch");

TEST_CASE("reference: batches of small matrices, whole windows and what is left of them") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t shapes[][2] = {{2, 2}, {3, 3},   {4, 4},   {5, 7},   {8, 8},   {16, 16},
                                      {1, 9}, {33, 31}, {12, 40}, {64, 32}, {17, 17}, {2, 3}};
    std::uint32_t seed = 100;
    for (std::int64_t bytes : {1, 2, 4, 8, 16}) {
      for (const auto& shape : shapes) {
        const std::int64_t matrix = shape[0] * shape[1] * bytes;
        for (std::int64_t total : {200, 4096, 21000}) {
          check_case(stream, {shape[0], shape[1], total / matrix + 2}, bytes, 0, 0, seed += 2);
        }
      }
      check_case(stream, {3, 5, 150000 / (15 * bytes)}, bytes, 16, 48, seed += 2);  // several windows a block
      check_case(stream, {8, 4, 300001 / (32 * bytes)}, bytes, 112, 0, seed += 2);
      check_case(stream, {3, 5, 300}, bytes, static_cast<std::size_t>(bytes), 0, seed += 2);  // off a multiple of 16
      check_case(stream, {3, 5, 300, 0, 0, 16}, bytes, 0, 0, seed += 2);                      // gaps between them
    }
  });
}

TEST_CASE("reference: batches of small matrices with gaps in them, between them and in the output") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t shapes[][2] = {{1, 7}, {7, 1}, {2, 2}, {3, 3}, {5, 7}, {8, 8}, {16, 16}, {33, 31}, {17, 40}};
    std::uint32_t seed = 5100;
    for (std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const auto natural = static_cast<std::size_t>(bytes);
      for (const auto& shape : shapes) {
        const std::int64_t rows = shape[0], cols = shape[1], in = rows * (cols + 1), out = cols * (rows + 1);
        const std::int64_t batch = 40000 / (rows * cols * bytes) + 3;
        check_case(stream, {rows, cols, batch, cols + 1}, bytes, 0, 0, seed += 2);
        check_case(stream, {rows, cols, batch, cols, rows + 1}, bytes, 0, 0, seed += 2);
        check_case(stream, {rows, cols, batch, cols, rows, in + 3, out + 5}, bytes, natural, 3 * natural, seed += 2);
        check_case(stream, {rows, cols, batch, cols + 16 / bytes, rows + 16 / bytes}, bytes, 16, 32, seed += 2);
        check_case(stream, {rows, cols, batch, cols, 0, rows * cols + 77}, bytes, natural, 0, seed += 2);
      }
    }
  });
}

TEST_CASE("reference: batches of misaligned matrices, one or several a block") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t blocks = 2 * device.properties().multiprocessors;
    std::uint32_t seed = 300;
    for (std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const std::int64_t shapes[][2] = {{63, 33}, {15, 300}, {300, 15},        {17, 129},
                                        {65, 65}, {129, 31}, {9, 1001 / bytes}};
      for (const auto& shape : shapes) {
        const std::int64_t enough = blocks * (1 + 16384 / (shape[0] * shape[1] * bytes));
        const auto natural = static_cast<std::size_t>(bytes);
        check_case(stream, {shape[0], shape[1], std::min<std::int64_t>(enough, 60)}, bytes, 0, 0, seed += 2);
        check_case(stream, {shape[0], shape[1], 5, 0, 0, 5 + shape[0] * shape[1]}, bytes, natural, 3 * natural,
                   seed += 2);
      }
    }
  });
}

TEST_CASE("reference: some ten to a hundred rows or columns") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1300;
    for (std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t rows = 8 * 512 / bytes;  // slabs
      const auto natural = static_cast<std::size_t>(bytes);
      for (std::int64_t cols : {9, 17, 31, 65, 127}) {
        check_case(stream, {rows + 5, cols}, bytes, natural, 0, seed += 2);
        check_case(stream, {rows + 37, cols, 2, 0, rows + 41}, bytes, 0, 5 * natural, seed += 2);
        check_case(stream, {cols, rows + 5}, bytes, natural, 0, seed += 2);
        check_case(stream, {cols, rows + 37, 2, rows + 41}, bytes, 0, 5 * natural, seed += 2);
      }
    }
  });
}

TEST_CASE("reference: large matrices with misaligned rows") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 700;
    for (std::int64_t bytes : {1, 2, 4, 8}) {
      const auto natural = static_cast<std::size_t>(bytes);
      check_case(stream, {1601 / bytes, 1203 / bytes}, bytes, 0, 0, seed += 2);
      check_case(stream, {1027 / bytes, 1204 / bytes}, bytes, natural, 0, seed += 2);  // packed rows off a word
      check_case(stream, {900 / bytes, 1301 / bytes, 1, 1310 / bytes, 907 / bytes}, bytes, 0, natural, seed += 2);
      check_case(stream, {257 / bytes + 1, 259 / bytes + 1, 3}, bytes, 3 * natural, 0, seed += 2);
      check_case(stream, {481 / bytes, 260 / bytes + 1}, bytes, 0, 7 * natural, seed += 2);
    }
  });
}

TEST_CASE("reference: bytes in three, five or seven rows and columns") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    for (std::int64_t rows : {3, 5, 7}) {
      for (std::int64_t cols : {3, 5, 7}) {
        for (std::int64_t batch : {2, 512, 777, 1025}) check_case(stream, {rows, cols, batch}, 1, 16, 32, 900);
      }
    }
  });
}

TEST_CASE("reference: random batches of small matrices") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240901);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 150; ++i) {
      const std::int64_t bytes = std::int64_t{1} << pick(0, 4), rows = pick(1, 40), cols = pick(1, 40);
      const std::int64_t batch = pick(2, static_cast<int>(2 + 30000 / (rows * cols * bytes)));
      check_case(stream, {rows, cols, batch}, bytes, std::size_t{16} * static_cast<std::size_t>(pick(0, 8)),
                 std::size_t{16} * static_cast<std::size_t>(pick(0, 8)), random());
    }
  });
}

TEST_CASE("reference: elements of odd sizes, tiles whole, at edges and misaligned") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 500;
    for (std::int64_t bytes : {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 20, 24}) {
      const auto natural = static_cast<std::size_t>(bytes & -bytes);
      check_odd_size(stream, {128, 192}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {192, 128, 2}, bytes, 16, 32, seed += 2);
      check_odd_size(stream, {130, 211}, bytes, natural, 0, seed += 2);
      check_odd_size(stream, {211, 131}, bytes, 0, 3 * natural, seed += 2);
      check_odd_size(stream, {150, 130, 2, 143, 161}, bytes, natural, natural, seed += 2);
      check_odd_size(stream, {128, 128, 1, 160, 0}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {4096, 3}, bytes, 0, 0, seed += 2);  // narrow, low, and low columns that wrap
      check_odd_size(stream, {4100, 3}, bytes, natural, 0, seed += 2);
      check_odd_size(stream, {2048, 8}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {3, 4096}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {3, 4099}, bytes, natural, 0, seed += 2);
      check_odd_size(stream, {33, 500, 2}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {32, 600}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {1, 3000}, bytes, 0, 0, seed += 2);
      check_odd_size(stream, {9000, 1}, bytes, 0, 0, seed += 2);
    }
  });
}

TEST_CASE("reference: random matrices of odd element sizes") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240902);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    const int sizes[] = {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 20, 24};
    for (int i = 0; i < 200; ++i) {
      const std::int64_t bytes = sizes[pick(0, 12)], natural = bytes & -bytes;
      twill::transpose_shape s;
      s.rows = pick(0, 1) ? pick(1, 60) : pick(60, 260);
      s.cols = pick(0, 1) ? pick(1, 60) : pick(60, 260);
      s.batch = pick(0, 4) == 0 ? pick(2, 3) : 1;
      if (pick(0, 2) == 0) s.in_ld = s.cols + pick(0, 19);
      if (pick(0, 2) == 0) s.out_ld = s.rows + pick(0, 19);
      if (pick(0, 3) == 0) s.out_stride = s.cols * (s.out_ld ? s.out_ld : s.rows) + pick(0, 19);
      const auto in_offset = pick(0, 2) == 0 ? natural * pick(0, 15) : 0;
      const auto out_offset = pick(0, 2) == 0 ? natural * pick(0, 15) : 0;
      check_odd_size(stream, s, bytes, static_cast<std::size_t>(in_offset), static_cast<std::size_t>(out_offset),
                     random());
    }
  });
}

TEST_SUITE_END();
