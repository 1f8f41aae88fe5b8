// What the planner expects of matrices that fill or do not fill the tiles of vec3, of small arrays, and of shapes whose
// kernels were timed; corrections of costs by shape.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <twill/device.hpp>
#include <twill/explain.hpp>
#include <twill/permute.hpp>

#include "move/plan/candidates.hpp"
#include "move/plan/normal_form.hpp"
#include "move/plan/vec3.hpp"

namespace twill::detail {
namespace {

// NOLINTBEGIN(performance-no-int-to-ptr): addresses, never followed.
transpose_args packed(std::int64_t bytes, std::int64_t rows, std::int64_t cols, std::uintptr_t offset = 0) {
  return {reinterpret_cast<const void*>((std::uintptr_t{1} << 40) + offset),
          reinterpret_cast<void*>((std::uintptr_t{1} << 44) + offset),
          bytes,
          rows,
          cols,
          1,
          cols,
          rows,
          rows * cols,
          rows * cols};
}
// NOLINTEND(performance-no-int-to-ptr)

TEST_CASE("literal: tiles of vec3") {
  const vec3_tiling square = vec3_tiling_of(packed(3, 4096, 4096));  // 256 threads, a group of 16 elements each
  CHECK(square.columns == 64);
  CHECK(square.height == 64);
  CHECK(square.lead == 0);
  CHECK(square.in_aligned);
  CHECK(square.run_vectors() == 12);

  const vec3_tiling narrow = vec3_tiling_of(packed(3, 1 << 22, 3));  // a group's rows are one run
  CHECK(narrow.columns == 3);
  CHECK(narrow.height == 85 * 16);
  CHECK(narrow.rows_in_run == 16);
  CHECK(narrow.run_bytes == 144);

  const vec3_tiling misaligned = vec3_tiling_of(packed(6, 4990451, 3));
  CHECK(misaligned.lead == 7);
  CHECK(misaligned.rows_in_run == 1);
  CHECK(misaligned.run_vectors() == 3);  // of 18 bytes, wherever they begin

  const vec3_tiling low = vec3_tiling_of(packed(3, 3, 1 << 22));  // columns of 9 bytes, one behind the other
  CHECK(low.wraps);
  CHECK(low.height == 3);
  CHECK(low.columns == 1344);
  CHECK(!vec3_tiling_of(packed(3, 3, 1 << 22, 3)).wraps);
}

TEST_CASE("narrow matrices cost vec3 more only where runs are short, tiles in part filled, or columns shifted") {
  const auto factor = [](std::int64_t bytes, std::int64_t rows, std::int64_t cols) {
    return vec3_factor(matrices(packed(bytes, rows, cols)));
  };
  CHECK(factor(3, 1 << 22, 3) < 1.05);
  CHECK(factor(6, 1 << 22, 3) < 1.05);
  CHECK(factor(6, 4990451, 3) > 1.7);
  CHECK(factor(7, 210656, 40) > factor(7, 210656, 64) + 0.3);
  CHECK(factor(3, 86, 214738) > factor(3, 96, 214736) + 0.4);
}

double expected_us(const std::string& kernel, std::int64_t bytes, const permute_shape& shape) {
  const auto all = explain_permute(twill::device::open("simt:h200"), bytes, shape);
  const auto found = std::find_if(all.begin(), all.end(), [&](auto& one) { return one.kernel == kernel; });
  REQUIRE(found != all.end());
  return found->microseconds;
}

TEST_CASE("rows shorter than what a warp loads cost misaligned-2d more where words cannot be loaded") {
  const auto costs = [](std::int64_t cols, std::int64_t pitch) {
    return expected_us("misaligned-2d", 1, {{1 << 20, cols}, {1, 0}, {pitch, 1}, {}});
  };
  CHECK(costs(126, 127) > 1.5 * costs(126, 126));  // rows with gaps beside packed ones
}

TEST_CASE("gaps in the input cost elementwise-vectors what they took to read") {
  struct timing {
    std::int64_t bytes, stride;
    double us;  // H200
  };
  for (const timing& one :
       {timing{4, 2, 51.2}, {4, 3, 68.3}, {4, 4, 83.7}, {8, 2, 97.3}, {8, 3, 127.9}, {8, 4, 157.8}}) {
    CAPTURE(one.bytes);
    CAPTURE(one.stride);
    const double expected = expected_us("elementwise-vectors", one.bytes, {{1 << 24}, {0}, {one.stride}, {}});
    CHECK(expected == doctest::Approx(one.us).epsilon(0.08));
  }
}

TEST_CASE("gather is found where only short output segments fit in shared memory") {
  const auto chosen = [](const char* name, std::int64_t bytes, const permute_shape& shape) -> std::string {
    return explain_permute(twill::device::open(name), bytes, shape).front().kernel;
  };
  CHECK(chosen("simt:mi300x", 1, {{38, 9, 36, 40, 17}, {4, 1, 3, 0, 2}, {}, {}}) == "gather");
  CHECK(chosen("simt:gtx280", 1, {{17, 19, 35, 35, 29}, {2, 4, 1, 3, 0}, {}, {}}) == "gather");
  CHECK(chosen("simt:gtx280", 2, {{31, 35, 40, 34, 28, 25}, {5, 3, 0, 2, 1, 4}, {}, {}}) == "gather");
}

TEST_CASE("small arrays: elementwise where few blocks of the others would wait, up to 2 MiB") {
  const auto on = twill::device::open("simt:h100");
  const auto chosen = [&](std::int64_t bytes, const dims& extents, const dims& order) -> std::string {
    return explain_permute(on, bytes, permute_shape{extents, order, {}, {}}).front().kernel;
  };
  CHECK(chosen(1, {24, 26, 115}, {2, 1, 0}) == "elementwise");
  CHECK(chosen(4, {6, 108, 7}, {2, 0, 1}) == "elementwise");  // seven columns are slow for narrow
  CHECK(chosen(4, {100000, 3}, {1, 0}) == "narrow");
  CHECK(chosen(2, {700, 600}, {1, 0}) == "misaligned-2d");
  CHECK(chosen(2, {13, 12, 7, 601}, {3, 1, 2, 0}) == "gather");
}

TEST_CASE("small batches: elementwise-vectors is chosen over staged kernels, whose launch takes longer") {
  const auto on = twill::device::open("simt:h200");
  const auto chosen = [&](std::int64_t bytes, const dims& extents) -> std::string {
    return explain_permute(on, bytes, permute_shape{extents, {0, 2, 1}, {}, {}}).front().kernel;
  };
  CHECK(chosen(2, {6782, 2, 35}) == "elementwise-vectors");
  CHECK(chosen(2, {6902, 11, 8}) == "elementwise-vectors");
  CHECK(chosen(4, {636, 76, 4}) == "elementwise-vectors");
}

struct timed_permutation {
  permute_shape shape;
  std::int64_t bytes;
  std::string kernel;  // the fastest
};

void check_choices(const char* device_name, const std::vector<timed_permutation>& timed) {
  const auto on = device::open(device_name);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    CAPTURE(i);
    CHECK(explain_permute(on, timed[i].bytes, timed[i].shape).front().kernel == timed[i].kernel);
  }
}

TEST_CASE("permutations that kernels were timed for are moved by the fastest of them") {
  const std::vector<timed_permutation> timed = {
      {{{700, 900, 333}, {1, 0, 2}, {}, {}}, 1, "elementwise-vectors"},
      {{{141, 334, 207}, {1, 0, 2}, {}, {}}, 2, "elementwise-vectors"},
      {{{8, 19, 3, 61, 74, 10}, {4, 5, 3, 2, 0, 1}, {}, {}}, 4, "misaligned"},
      {{{336, 432, 32}, {0, 2, 1}, {}, {}}, 1, "staged-rows"},
      {{{1048576, 32}, {1, 0}, {}, {}}, 1, "staged-rows"},
      {{{256, 320, 256}, {2, 1, 0}, {}, {}}, 8, "tiled-2d"},
      {{{32, 1048576}, {1, 0}, {}, {}}, 8, "tiled-2d"},
      {{{2, 838080}, {1, 0}, {}, {}}, 8, "narrow"},
      // Aligned arrays of 10 and 58 MB.
      {{{12864, 384}, {1, 0}, {}, {}}, 2, "tiled-4byte"},
      {{{320, 179904}, {1, 0}, {}, {}}, 1, "tiled-4byte"},
      // Input rows of 726 bytes that become packed columns.
      {{{180, 127, 363}, {0, 2, 1}, {}, {}}, 2, "staged-cols"},
      {{{353, 113, 78, 16}, {2, 1, 0, 3}, {}, {}}, 4, "gather"},
      {{{80, 32, 32, 6, 144}, {4, 2, 0, 3, 1}, {}, {}}, 2, "gather"},
      // Batches of bytes of less than 16 rows, and of more.
      {{{377446, 13, 9}, {0, 2, 1}, {}, {}}, 1, "staged"},
      {{{1681495, 8, 2}, {0, 2, 1}, {}, {}}, 1, "staged"},
      {{{294258, 44, 3}, {0, 2, 1}, {}, {}}, 1, "staged-misaligned"},
      {{{1818, 140, 357}, {0, 2, 1}, {}, {}}, 1, "staged-misaligned"},
      // Batches of 2 and 4 bytes.
      {{{132, 163, 121}, {0, 2, 1}, {}, {}}, 2, "staged-misaligned"},
      {{{60, 94, 406, 42}, {0, 1, 3, 2}, {}, {}}, 4, "staged-misaligned"},
      {{{132509, 19, 3}, {0, 2, 1}, {}, {}}, 4, "elementwise-vectors"},
      {{{19477, 10, 7}, {0, 2, 1}, {}, {}}, 8, "elementwise-vectors"},
      // Isolated input units, whose sectors neighbouring blocks use too.
      {{{738397, 2}, {1, 0}, {}, {}}, 4, "elementwise-vectors"},
      {{{464, 126, 15, 3}, {1, 0, 3, 2}, {}, {}}, 2, "elementwise-vectors"},
      // Rows of which a warp's loads touch every fourth, a line from one to the next.
      {{{1048576, 8, 8}, {0, 2, 1}, {}, {}}, 4, "gather"},
      // A warp's loads are spread over matrices of 5 KB.
      {{{8, 306, 231, 24}, {1, 0, 3, 2}, {}, {}}, 1, "gather"},
      // Flipped; rotated, whose rows are contiguous on both sides; channels left out, and swapped.
      {{{5001, 6003}, {0, 1}, {6003, -1}, {}}, 1, "elementwise-vectors"},
      {{{5001, 6003}, {1, 0}, {6003, -1}, {}}, 1, "misaligned"},
      {{{5001, 6003}, {1, 0}, {-6003, 1}, {}}, 1, "misaligned"},
      {{{5001, 6003}, {1, 0}, {-6003, -1}, {}}, 1, "misaligned"},
      {{{3, 2160, 3840}, {1, 2, 0}, {2160 * 3840, 3840, -1}, {}}, 1, "elementwise-vectors"},
      {{{8640, 3840, 3}, {0, 1, 2}, {15360, 4, 1}, {}}, 1, "elementwise-vectors"},
      {{{8640, 3840, 3}, {0, 1, 2}, {11520, 3, -1}, {}}, 1, "elementwise-vectors"},
      // Mirrored pixels to planes: each plane's blocks read all lines again, 3 or 4 times.
      {{{2160, 3840, 3}, {2, 0, 1}, {11520, -3, 1}, {}}, 4, "elementwise-vectors"},
      {{{2160, 3840, 4}, {2, 0, 1}, {15360, -4, 1}, {}}, 4, "gather"},
      // Short pieces of the input whose neighbours are read last.
      {{{5, 205, 81, 24, 7}, {3, 1, 2, 0, 4}, {}, {}}, 8, "gather"},
      {{{193, 415, 4, 5, 2, 22}, {3, 0, 1, 5, 2, 4}, {}, {}}, 4, "gather"},
      // Tiny matrices with gaps.
      {{{14913080, 3, 3}, {0, 2, 1}, {13, 4, 1}, {}}, 1, "staged-strided"}};
  check_choices("simt:h200", timed);
}

TEST_CASE("tiled-4byte and staged-cols are candidates where they were timed") {
  const auto on = device::open("simt:h200");
  const std::int64_t multiprocessors = on.properties().multiprocessors;
  const auto is_candidate = [&](const char* kernel, std::int64_t bytes, const permute_shape& shape) {
    const auto all = explain_permute(on, bytes, shape);
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.kernel == kernel; });
  };
  struct aligned_rows {
    std::int64_t row, out_row_multiple, most;  // bytes; most: KiB a multiprocessor
  };
  // Input rows of 128 bytes and more; shorter ones; output rows that begin inside sectors.
  for (const aligned_rows& one : {aligned_rows{128, 32, 512}, {112, 32, 16}, {128, 16, 64}}) {
    const std::int64_t most = (one.most << 10) * multiprocessors / one.row;  // rows of 1-byte elements
    const std::int64_t rows = most / 32 * 32 - (one.out_row_multiple == 16 ? 16 : 0);
    CAPTURE(one.row);
    CAPTURE(rows);
    CHECK(is_candidate("tiled-4byte", 1, {{rows, one.row}, {1, 0}, {}, {}}));
    CHECK(!is_candidate("tiled-4byte", 1, {{rows + 32, one.row}, {1, 0}, {}, {}}));
  }
  CHECK(is_candidate("staged-cols", 1, {{1000, 127, 128}, {0, 2, 1}, {}, {}}));
  CHECK(!is_candidate("staged-cols", 1, {{1000, 127, 127}, {0, 2, 1}, {}, {}}));
  for (const std::int64_t bytes : {2, 4}) {
    CHECK(is_candidate("staged-cols", bytes, {{1000, 127, 256 / bytes}, {0, 2, 1}, {}, {}}));
    CHECK(!is_candidate("staged-cols", bytes, {{1000, 127, 255 / bytes}, {0, 2, 1}, {}, {}}));
  }
}

TEST_CASE("held-out shapes whose choice depends on corrections by shape are moved by the fastest kernel") {
  const std::vector<timed_permutation> timed = {
      {{{166, 5, 4, 104, 8, 17}, {2, 0, 1, 3, 5, 4}, {}, {}}, 4, "gather"},
      {{{246, 29, 3, 2, 2, 25}, {2, 4, 3, 0, 1, 5}, {}, {}}, 2, "elementwise-vectors"},
      {{{2, 224, 80, 11, 128, 3}, {1, 3, 2, 4, 0, 5}, {}, {}}, 2, "gather"},
      {{{630848, 12}, {1, 0}, {}, {}}, 1, "staged-rows"},
      {{{1576, 716}, {1, 0}, {}, {}}, 8, "misaligned-2d"}};
  check_choices("simt:h200", timed);
}

// Batches of packed matrices, each of which is transposed.
permute_args batch_of(std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t bytes) {
  const transpose_args at = packed(bytes, rows, cols);
  const std::int64_t matrix = rows * cols * bytes;
  return {at.in, at.out, bytes, 3, {{rows, cols * bytes, bytes}, {cols, bytes, rows * bytes}, {batch, matrix, matrix}}};
}

double correction_of(const permute_args& args, family kind, double copy_us = 1000, const char* device = "simt:h200") {
  const device_model model = model_of(device::open(device).properties());
  composite_tile units;
  set_untiled(units, args, unit_of(args));
  return shape_properties(args, units, model, args.bytes(), copy_us).correction(kind);
}

doctest::Approx factor_of(double log) {
  return doctest::Approx(1 + log + log * log / 2).epsilon(1e-7);
}

TEST_CASE("literal: corrections of costs by shape") {
  const permute_args entries = batch_of(1000, 64, 512, 4);  // rows of 2^11 bytes to rows of 2^8, all on lines
  const double gather = 0.016 - 0.004 - 0.018 + 0.01 + 0.006 + 0.011 - 0.003;
  CHECK(correction_of(entries, family::gather) == factor_of(gather - 0.035));
  CHECK(correction_of(entries, family::gather, 12) == factor_of(gather - 0.017));  // about 2^3.5
  CHECK(correction_of(entries, family::gather, 36) == factor_of(gather - 0.017 - 1.625 / 3 * 0.018));
  CHECK(correction_of(entries, family::gather, 0.1) == factor_of(gather + 0.084));
  CHECK(correction_of(entries, family::staged_strided) == 1);

  // Rows of 2052 bytes (multiples of 4) to rows of 224 (about 2^7.75, multiples of 32).
  CHECK(correction_of(batch_of(1000, 56, 513, 4), family::misaligned_2d) ==
        factor_of(0.023 - 0.013 - 0.004 - 0.011 + (0.026 - 0.875 * 0.022) + 0.014 - 0.025 + (0.023 - 0.875 * 0.012)));

  // One dimension, read backwards: aligned, and there is no second one.
  const transpose_args at = packed(4, 1 << 22, 1);
  const void* const last = static_cast<const char*>(at.in) + ((1 << 24) - 4);
  CHECK(correction_of({last, at.out, 4, 1, {{1 << 22, -4, 4}}}, family::elementwise_vectors) ==
        factor_of(0.005 + 0.025 + 0.012 + 0.01 - 0.009 + 0.001 - 0.004 - 0.007));
}

TEST_CASE("corrections of costs by shape distinguish matrices, batches, other forms of rank 3, and higher ranks") {
  const transpose_args at = packed(4, 256, 256);  // all extents but that of the fourth dimension are 1 KiB
  constexpr std::int64_t row = 1024, matrix = 256 * row;
  const auto log_of = [&](int rank, const permute_dim(&dims)[4]) {
    return std::log(correction_of({at.in, at.out, 4, rank, {dims[0], dims[1], dims[2], dims[3]}}, family::gather));
  };
  const double batch = log_of(3, {{256, row, 4}, {256, 4, row}, {256, matrix, matrix}});
  const double interleaved = log_of(3, {{256, matrix, 4}, {256, 4, row}, {256, row, matrix}});
  const double more = log_of(4, {{256, matrix, 4}, {256, 4, row}, {256, row, matrix}, {2, 256 * matrix, 256 * matrix}});
  CHECK(batch - interleaved == doctest::Approx(0.016 + 0.002).epsilon(1e-3));
  CHECK(batch - more == doctest::Approx(0.016).epsilon(1e-3));
}

TEST_CASE("forms with gaps on either side are not corrected by shape; matrices rotated either way are") {
  permute_args rows = batch_of(1000, 64, 512, 4);
  CHECK(correction_of(rows, family::gather) != 1);
  permute_args in_gaps = rows, out_gaps = rows;
  in_gaps.dims[2].in_stride += 128;
  out_gaps.dims[2].out_stride += 128;
  CHECK(correction_of(in_gaps, family::gather) == 1);
  CHECK(correction_of(out_gaps, family::gather) == 1);

  const transpose_args at = packed(4, 1000, 2000);
  for (const bool is_clockwise : {true, false}) {  // one of them has a negative stride in the output's normal form
    permute_args rotated{at.in, at.out, 4, 2, {{1000, 8000, 4}, {2000, 4, 4000}}};
    permute_dim& reversed = rotated.dims[is_clockwise ? 0 : 1];
    rotated.out = static_cast<char*>(rotated.out) + (reversed.extent - 1) * reversed.out_stride;
    reversed.out_stride = -reversed.out_stride;
    normalise(rotated);
    CHECK(correction_of(rotated, family::gather) != 1);
  }
}

// Without corrections, on a device that moves as many bytes a clock as the one that costs were fitted on: launch and
// copies add up.
double copies_of_staged_misaligned(std::int64_t batch, std::int64_t rows, std::int64_t cols, double launch) {
  device_model model = model_of(device::open("simt:h200").properties());
  model.overlaps = false;
  const candidates all = candidates_of(batch_of(batch, rows, cols, 4), model);
  for (int i = 0; i < all.count; ++i) {
    if (all.list[i].kind == family::staged_misaligned) return (all.list[i].microseconds - launch) / all.copy_us;
  }
  return 0;
}

TEST_CASE("literal: load imbalance of staged-misaligned") {
  // Matrices of 4 KiB, a block each.
  const auto copies = [](std::int64_t batch) { return copies_of_staged_misaligned(batch, 32, 32, 2.46); };
  const double even = copies(132 * 10);
  CHECK(even == doctest::Approx(1.033 + 0.22 * 4096 / (227 << 10)));
  CHECK(copies(132 * 10 + 1) - even == doctest::Approx(0.25 * (11.0 * 132 / 1321 - 1)));
  CHECK(copies(132 * 11) == doctest::Approx(even));
  const double small = 1 - 320.0 * 256 / (2 << 20);  // 40 blocks of eight matrices of 256 bytes
  CHECK(copies_of_staged_misaligned(320, 8, 8, 2.46 - 0.36 * small) ==
        doctest::Approx(1.033 + 0.22 * 256 / (227 << 10) + 0.25));
}

TEST_CASE("corrections of costs by shape are the same for rows that are read backwards") {
  permute_args rows = batch_of(1000, 64, 512, 4);
  const double forwards = correction_of(rows, family::gather);
  rows.in = static_cast<const char*>(rows.in) + 511 * 4;
  rows.dims[1].in_stride = -4;
  CHECK(correction_of(rows, family::gather) == forwards);
}

TEST_CASE("costs are corrected by shape from 2 MiB on, in full from 4 MiB, on devices like those of the fit") {
  const auto by = [](std::int64_t batch, const char* device = "simt:h200") {
    return correction_of(batch_of(batch, 64, 128, 4), family::gather, 1000, device);
  };
  const double log = -0.035 + 0.016 - 0.004 - 0.018 + 0.01 + (0.009 - 0.001) + (0.007 + 0.004 / 3) - 0.003;
  CHECK(by(64) == 1);  // 2 MiB
  CHECK(by(96) == factor_of(log / 2));
  CHECK(by(128) == factor_of(log));
  CHECK(by(1280) == factor_of(log));
  CHECK(by(1280, "simt:h100") == factor_of(log));
  for (const char* const other : {"simt:v100", "simt:a100", "simt:mi300x"}) CHECK(by(1280, other) == 1);
}

TEST_CASE("on an H100, with fewer bytes per clock than an H200, gather is chosen where it is the fastest") {
  const std::vector<timed_permutation> timed = {{{{2, 74, 120, 8, 2}, {3, 4, 2, 1, 0}, {}, {}}, 4, "gather"},
                                                {{{172, 14, 6650}, {2, 1, 0}, {}, {}}, 7, "gather"},
                                                {{{36, 2, 26, 66, 3, 18}, {4, 2, 3, 0, 5, 1}, {}, {}}, 8, "gather"}};
  check_choices("simt:h100", timed);
}

TEST_CASE("where L1 is small, blocks do not find their sectors in it again") {
  const permute_shape permutation{{151, 13, 404, 4}, {0, 3, 2, 1}, {}, {}}, batch{{19438, 121, 9}, {0, 2, 1}, {}, {}};
  for (const char* const name : {"simt:mi300x", "simt:rx6800xt", "simt:rx7900xtx", "simt:k20"}) {
    const auto on = device::open(name);
    CHECK(explain_permute(on, 2, permutation).front().kernel == "gather");
    CHECK(explain_permute(on, 1, batch).front().kernel == "staged-misaligned");
  }
}

TEST_CASE("interleaved matrices, whose spans hold one another, are not for staged-strided") {
  const auto on = twill::device::open("simt:h100");
  const auto applies = [&](const permute_shape& shape) {
    const auto all = explain_permute(on, 1, shape);
    return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.kernel == "staged-strided"; });
  };
  CHECK(!applies({{24, 26, 115}, {2, 1, 0}, {}, {}}));
  CHECK(applies({{600, 24, 115}, {0, 2, 1}, {24 * 116, 116, 1}, {}}));
}

}  // namespace
}  // namespace twill::detail
