// What the planner chooses for matrices of a few long rows or columns, that a call does it without an allocation, and
// the order of tiles of tall matrices.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <twill/ladder/transpose.hpp>
#include <twill/simt.hpp>
#include <twill/twill.hpp>

#include "backends/simt/kernel_name.hpp"
#include "backends/simt/simt_device.hpp"
#include "move/plan/candidates.hpp"
#include "move/plan/transposes.hpp"
#include "support/allocations.hpp"
#include "support/arena.hpp"
#include "support/dice.hpp"
#include "support/moving_calls.hpp"

namespace twill::simt {
extern detail::operation_table operations;
}

namespace {

/// A simulated H200 that runs nothing, and notes the last kernel and its blocks.
class idle_device : public twill::simt::simt_device {
 public:
  idle_device() : simt_device(twill::device::open("simt:h200").properties(), {}, {}, 1) {
    operations = &twill::simt::operations;
  }
  void launch(void*, const twill::detail::launch_config& config, const twill::simt::kernel_call& kernel) override {
    kernel_ = kernel.address;
    blocks_ = std::int64_t{config.grid.x} * config.grid.y;
  }
  void copy(void*, void*, const void*, std::size_t, twill::detail::copy_direction) override {}
  void copy_rows(void*, const twill::detail::pitched_rows&, twill::detail::copy_direction) override {}

  std::string kernel() const { return twill::simt::kernel_name(kernel_); }
  std::int64_t blocks() const { return blocks_; }

 private:
  const void* kernel_ = nullptr;
  std::int64_t blocks_ = 0;
};

// NOLINTBEGIN(performance-no-int-to-ptr): addresses, never followed.
const void* const from = reinterpret_cast<const void*>(std::uintptr_t{1} << 40);
void* const to = reinterpret_cast<void*>(std::uintptr_t{1} << 44);
// NOLINTEND(performance-no-int-to-ptr)

struct long_matrix {
  std::int64_t rows, cols, batch, bytes;

  std::int64_t all() const { return rows * cols * batch * bytes; }
  /// Microseconds of a copy on an H200.
  double copy() const { return 2 * static_cast<double>(all()) / 4.36e6; }
  twill::permute_shape permutation() const { return {{batch, rows, cols}, {0, 2, 1}, {}, {}}; }
};

std::vector<long_matrix> long_matrices() {
  std::vector<long_matrix> all;
  for (const std::int64_t few : {2, 3, 5, 8, 9, 17, 31, 32}) {
    for (const std::int64_t length : {400000, 500001, 1000003}) {
      for (const std::int64_t bytes : {1, 2, 3, 4, 8, 12, 16}) {
        for (const std::int64_t batch : {1, 3}) {
          all.push_back({length, few, batch, bytes});
          all.push_back({few, length, batch, bytes});
        }
      }
    }
  }
  return all;
}

std::shared_ptr<twill::detail::backend_device> two_multiprocessors() {
  auto properties = twill::device::open("simt:h200").properties();
  properties.multiprocessors = 2;
  auto simulated =
      std::make_shared<twill::simt::simt_device>(properties, twill::simt::grid_limits{}, twill::simt::schedule{}, 2);
  simulated->operations = &twill::simt::operations;
  if (!TWILL_SANITIZED) simulated->check(true);
  return simulated;
}

void run_each(twill::stream_ref stream, const std::vector<support::drawn_call>& calls) {
  for (const support::drawn_call& call : calls) {
    const std::string wrong = support::run_tightly(stream, call);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

}  // namespace

TEST_SUITE_BEGIN("planning");

TEST_CASE("a few long rows or columns are expected to move at most at half of a copy's speed") {
  const auto idle = std::make_shared<idle_device>();
  const twill::device device(idle);
  const twill::stream stream(device);
  for (const long_matrix& m : long_matrices()) {
    CAPTURE(m.rows);
    CAPTURE(m.cols);
    CAPTURE(m.batch);
    CAPTURE(m.bytes);
    const auto found = twill::explain_permute(device, m.bytes, m.permutation(), from, to);
    REQUIRE(!found.empty());
    CHECK(found.front().microseconds < 12 + (m.bytes == 3 ? 2.2 : 1.8) * m.copy());
    CHECK(found.front().kernel != "elementwise");
    twill::transpose_bytes(stream, from, to, m.bytes, {m.rows, m.cols, m.batch});
    CHECK(idle->blocks() >= std::min<std::int64_t>(132, m.all() / 49152));
  }
}

// Every way to a transpose asks the planner.
TEST_CASE("the tuned rung, transpose and permute launch the same kernel") {
  const auto idle = std::make_shared<idle_device>();
  const twill::device device(idle);
  const twill::stream stream(device);
  for (const long_matrix& m : long_matrices()) {
    if (m.batch != 1 || m.bytes == 3 || m.bytes == 12) continue;
    CAPTURE(m.rows);
    CAPTURE(m.cols);
    CAPTURE(m.bytes);
    twill::transpose_rung(stream, "tuned", from, to, m.bytes, m.rows, m.cols);
    const std::string by_rung = idle->kernel();
    twill::transpose_bytes(stream, from, to, m.bytes, {m.rows, m.cols});
    CHECK(idle->kernel() == by_rung);
    twill::permute_bytes(stream, from, to, m.bytes, {{m.rows, m.cols}, {1, 0}, {}, {}});
    CHECK(idle->kernel() == by_rung);
  }
}

TEST_CASE("a few long rows or columns are predicted to move at 0.55 of the copy's speed or better") {
  const twill::device device = twill::device::open("simt:h200");
  if (!twill::predicts(device)) return;
  const twill::stream stream(device);
  for (const long_matrix& m : {long_matrix{200003, 2, 1, 2},
                               {200003, 3, 1, 2},
                               {2, 200001, 1, 4},
                               {3, 100001, 1, 8},
                               {100003, 9, 1, 1},
                               {100003, 17, 1, 1}}) {
    CAPTURE(m.rows);
    CAPTURE(m.cols);
    CAPTURE(m.bytes);
    const auto bytes = static_cast<std::size_t>(m.all());
    const twill::raw_buffer in(device, bytes), out(device, bytes);
    twill::fill_bytes(stream, in.data(), 1, bytes);
    const auto time = twill::predict(device, [&] {
      twill::transpose_bytes(stream, in.data(), out.data(), m.bytes, {m.rows, m.cols});
      stream.wait();
    });
    CHECK(time.seconds < twill::predicted_copy_seconds(device, bytes) / 0.55);
  }
}

#if !TWILL_SANITIZED  // the sanitizers have an operator new of their own
TEST_CASE("calls that move data allocate nothing") {
  const auto idle = std::make_shared<idle_device>();
  const twill::device device(idle);
  const twill::stream stream(device);
  const std::vector<long_matrix> matrices = long_matrices();
  const twill::permute_shape shapes[] = {{{336, 255, 432, 3}, {3, 1, 2, 0}, {}, {}},
                                         {{16, 42, 450, 321}, {2, 3, 1, 0}, {}, {}},
                                         {{80, 196, 7, 132, 5}, {4, 1, 2, 3, 0}, {}, {}},
                                         {{9, 5, 301}, {1, 0, 2}, {}, {}}};
  const std::uint64_t before = support::host_allocations();
  for (const long_matrix& m : matrices) twill::transpose_bytes(stream, from, to, m.bytes, {m.rows, m.cols, m.batch});
  for (const auto& shape : shapes) {
    for (const std::int64_t bytes : {1, 2, 3, 4, 8, 16}) twill::permute_bytes(stream, from, to, bytes, shape);
  }
  CHECK(support::host_allocations() == before);
  CHECK(idle->blocks() > 0);
}
#endif

// Of 768 KiB of cache, a column of more than 512 tile rows exceeds what blocks may hold.
TEST_CASE("reference: tall matrices, whose tiles are taken across") {
  auto properties = twill::device::open("simt:h200").properties();
  properties.multiprocessors = 2;
  properties.cache_bytes = 768 << 10;
  const auto simulated =
      std::make_shared<twill::simt::simt_device>(properties, twill::simt::grid_limits{}, twill::simt::schedule{}, 2);
  simulated->operations = &twill::simt::operations;
  if (!TWILL_SANITIZED) simulated->check(true);
  const twill::device device(simulated);
  const twill::stream stream(device);
  std::vector<support::drawn_call> calls;
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    const auto offset = static_cast<std::size_t>(bytes);
    calls.push_back(support::transpose_call({1100, 100, 2}, bytes, 0, offset));
    calls.push_back(support::transpose_call({1104, 128}, bytes, 0, 0));
    calls.push_back(support::transpose_call({1103, 160 / bytes}, bytes, offset, 0));
    calls.push_back(support::transpose_call({3001, 127}, bytes, 0, 0));
    calls.push_back(support::permute_call({{2, 23, 148, 130 / bytes}, {0, 3, 2, 1}, {}, {}}, bytes, 0, 0));
    const twill::permute_shape tall{{1103, 131}, {1, 0}, {}, {}};
    calls.push_back(support::permute_call(tall, bytes, offset, 0, "misaligned-2d"));
    calls.push_back(support::permute_call(tall, bytes, 0, offset, "misaligned-2d"));
    calls.push_back(support::permute_call({{1104, 256}, {1, 0}, {}, {}}, bytes, 0, 0, "misaligned-2d"));
    calls.push_back(support::permute_call({{1104, 256}, {1, 0}, {}, {}}, bytes, 0, 0, "tiled-2d"));
    calls.push_back(support::permute_call({{2, 29, 148, 131}, {0, 3, 2, 1}, {}, {}}, bytes, 0, offset, "misaligned"));
  }
  const std::string wrong = support::run_all(stream, calls);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

// Short and long rows, of which tiles hold the ends in all positions in a word, and columns that fill half a tile's
// lanes or less.
TEST_CASE("reference: misaligned tiles of 1 byte, of rows and columns of several dimensions") {
  const twill::device device(two_multiprocessors());
  const twill::stream stream(device);
  std::vector<support::drawn_call> calls;
  for (const std::int64_t cols : {28, 29, 60, 61, 64, 133}) {
    for (const std::int64_t rows : {100, 103, 225, 256, 257, 306, 481}) {
      const std::size_t in = static_cast<std::size_t>(rows + cols) % 5,
                        out = static_cast<std::size_t>(rows * cols) % 19;
      calls.push_back(support::permute_call({{3, rows, 5, cols}, {0, 2, 3, 1}, {}, {}}, 1, in, out, "misaligned"));
    }
    calls.push_back(support::permute_call({{3, 18, 17, 2, cols}, {0, 3, 4, 1, 2}, {}, {}}, 1, 4, 0, "misaligned"));
  }
  calls.push_back(support::permute_call({{3, 208, 5, 64}, {0, 2, 3, 1}, {}, {}}, 1, 0, 0, "misaligned"));
  for (const std::int64_t rows : {67, 101, 163, 177, 192, 225, 233, 256, 271}) {
    for (const std::int64_t bytes : {1, 2}) {
      calls.push_back(support::permute_call({{7, rows, 133}, {0, 2, 1}, {}, {}}, bytes, 0,
                                            static_cast<std::size_t>(bytes * 3), "misaligned-2d"));
    }
  }
  run_each(stream, calls);
}

// At this stride, one word of padding per 128 bytes has units of all lanes in one bank: gather takes more.
TEST_CASE("reference: gather at strides that would conflict") {
  const twill::device device(two_multiprocessors());
  const twill::stream stream(device);
  std::vector<support::drawn_call> calls;
  for (const std::int64_t bytes : {1, 2, 4}) {
    const std::int64_t inner = bytes == 4 ? 31 : 62;
    const auto offset = static_cast<std::size_t>(bytes);
    for (const std::int64_t rows : {40, 91, 100}) {
      calls.push_back(
          support::permute_call({{9, 13, rows, inner}, {3, 1, 0, 2}, {}, {}}, bytes, offset, 3 * offset, "gather"));
      calls.push_back(support::permute_call({{9, 5, rows, inner}, {1, 3, 0, 2}, {}, {}}, bytes, 0, 0, "gather"));
    }
  }
  run_each(stream, calls);
}

// Rows for which the pitch of a band is the least or one of the others, in bands of all three widths.
TEST_CASE("reference: staged-cols of 9 to 300 rows") {
  const twill::device device(two_multiprocessors());
  const twill::stream stream(device);
  std::vector<support::drawn_call> calls;
  const auto add = [&](std::int64_t rows, std::int64_t bytes) {
    const auto in = static_cast<std::size_t>(bytes * (rows % 3)), out = static_cast<std::size_t>(bytes * (rows % 7));
    calls.push_back(support::permute_call({{rows, 5003 / bytes}, {1, 0}, {}, {}}, bytes, in, out, "staged-cols"));
    calls.push_back(support::permute_call({{rows, 5120 / bytes}, {1, 0}, {}, {}}, bytes, 0, 0, "staged-cols"));
  };
  for (const std::int64_t rows : {9,  11, 12, 15, 16, 17, 20, 25, 26,  28,  31,  32,  36,  41,  42,
                                  43, 44, 45, 58, 59, 63, 82, 85, 101, 121, 152, 168, 200, 245, 300}) {
    add(rows, 1);
  }
  for (const std::int64_t rows : {9, 43, 86, 164}) {
    add(rows, 2);
    add(rows, 4);
  }
  run_each(stream, calls);
}

TEST_CASE("reference: staged with one window a block, eight, and five in several waves, the last partial; in place") {
  const twill::device device(two_multiprocessors());  // a wave: eight blocks
  const twill::stream stream(device);
  for (const std::int64_t batch : {1900, 7900, 10007}) {  // of 32 bytes, 128 of them a window
    CAPTURE(batch);
    run_each(stream, {support::permute_call({{batch, 8, 4}, {0, 2, 1}, {}, {}}, 1, 0, 0, "staged"),
                      support::transpose_in_place_call({8, 4, batch}, 1, 0, 16, 64)});
  }
}

TEST_CASE("staged moves as many windows a block as make waves of four blocks a multiprocessor, one below two waves") {
  const auto idle = std::make_shared<idle_device>();
  const twill::device device(idle);
  const twill::stream stream(device);
  const auto windows_a_block = [&](std::int64_t windows) {
    // Matrices of 32 bytes, 128 to a window.
    permute_bytes_with(stream, "staged", from, to, 1, {{windows * 128, 8, 4}, {0, 2, 1}, {}, {}});
    return (windows + idle->blocks() - 1) / idle->blocks();
  };
  const std::int64_t wave = 4 * std::int64_t{device.properties().multiprocessors};
  CHECK(windows_a_block(wave / 2) == 1);
  CHECK(windows_a_block(2 * wave - 1) == 1);
  CHECK(windows_a_block(2 * wave) == 2);
  CHECK(windows_a_block(2 * wave + 1) == 3);
  CHECK(windows_a_block(8 * wave) == 8);
  CHECK(windows_a_block(8 * wave + 1) == 5);  // two waves
  CHECK(windows_a_block(16 * wave) == 8);
}

TEST_CASE("staged-misaligned is a candidate for batches of any size, with little shared memory and with much") {
  for (const char* name : {"simt:gtx280", "simt:k20", "simt:mi250x", "simt:h200"}) {
    alignas(64) static unsigned char place[64];
    for (const std::int64_t batch : {2, 100, 1000000}) {
      const twill::detail::permute_args args{place, place, 4, 3, {{8, 32, 4}, {8, 4, 32}, {batch, 256, 256}}};
      const auto all =
          twill::detail::candidates_of(args, twill::detail::model_of(twill::device::open(name).properties()));
      CHECK_MESSAGE(std::any_of(all.list, all.list + all.count,
                                [](auto& c) { return c.kind == twill::detail::family::staged_misaligned; }),
                    name, ", ", batch);
    }
  }
}

TEST_CASE("every shape of bands that staged-cols may have has a cost") {
  using namespace twill::detail;
  for (const char* name : {"simt:gtx280", "simt:k20", "simt:v100", "simt:mi250x", "simt:a100", "simt:h200"}) {
    const device_model model = model_of(twill::device::open(name).properties());
    for (const std::int64_t bytes : {1, 2, 4}) {
      for (std::int64_t rows = least_band_rows; bytes_of_band(rows, bytes, 8) <= model.shared_bytes / 3; ++rows) {
        for (const std::int64_t cols : {500000, 20000, 3000}) {
          const band_shape shape =
              shape_of_bands({nullptr, nullptr, bytes, rows, cols, 1, cols, rows, cols * rows, cols * rows}, model);
          CHECK_MESSAGE(shape.factor > 0.9, name, ", ", bytes, ", ", rows, ", ", cols);
        }
      }
    }
  }
}

TEST_CASE("reference: staged-rows of 2 to 8 columns") {
  const twill::device device(two_multiprocessors());
  const twill::stream stream(device);
  std::vector<support::drawn_call> calls;
  for (const std::int64_t bytes : {1, 2}) {
    for (const std::int64_t cols : {2, 3, 4, 5, 6, 7, 8}) {
      if (bytes == 2 && cols < 4) continue;
      const auto in = static_cast<std::size_t>(bytes * (cols % 3)), out = static_cast<std::size_t>(bytes * cols);
      for (const std::int64_t rows : {8192, 8193, 9001, 10231}) {
        calls.push_back(
            support::permute_call({{2, rows / bytes, cols}, {0, 2, 1}, {}, {}}, bytes, in, out, "staged-rows"));
      }
    }
  }
  run_each(stream, calls);
}

// Tiles that end with the matrix, in memory that does.
TEST_CASE("reference: misaligned-2d, and squares in place, read nothing beyond the input") {
  auto properties = twill::device::open("simt:h200").properties();
  properties.multiprocessors = 2;
  properties.cache_bytes = 2 << 20;
  const auto simulated =
      std::make_shared<twill::simt::simt_device>(properties, twill::simt::grid_limits{}, twill::simt::schedule{}, 2);
  simulated->operations = &twill::simt::operations;
  if (!TWILL_SANITIZED) simulated->check(true);
  const twill::device device(simulated);
  const twill::stream stream(device);
  const std::vector<support::drawn_call> calls{
      support::permute_call({{112, 57}, {1, 0}, {}, {126, 1}}, 4, 0, 0, "misaligned-2d"),
      support::permute_call({{224, 184}, {1, 0}, {}, {}}, 2, 28, 0, "misaligned-2d"),
      support::permute_call({{2, 888, 664}, {0, 2, 1}, {}, {}}, 2, 22, 0, "misaligned-2d"),
      support::permute_call({{944, 300}, {1, 0}, {}, {}}, 4, 0, 0, "misaligned-2d"),
      support::permute_call({{225, 133}, {1, 0}, {}, {}}, 1, 1, 0, "misaligned-2d"),
      support::permute_call({{74, 67}, {1, 0}, {}, {}}, 8, 8, 0, "misaligned-2d"),
      support::transpose_in_place_call({301, 301}, 1, 0, 0, 0),
      support::transpose_in_place_call({302, 302}, 1, 0, 0, 0),
      support::transpose_in_place_call({387, 387}, 1, 0, 0, 0),
      support::transpose_in_place_call({193, 193}, 2, 0, 0, 0),
      support::transpose_in_place_call({257, 257}, 2, 0, 0, 0)};
  for (const support::drawn_call& call : calls) {
    const std::string wrong = support::run_tightly(stream, call);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_SUITE_END();
