// What kernels say of themselves - whole sectors, no bank conflicts - as the simulated GPUs of two vendors count it.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <twill/explain.hpp>
#include <twill/ladder/array.hpp>
#include <twill/ladder/reduce.hpp>
#include <twill/ladder/transpose.hpp>
#include <twill/profile.hpp>
#include <twill/twill.hpp>

namespace {

constexpr bool can_profile = !TWILL_SANITIZED;  // a sanitizer has the place of the recorder's hooks

const std::string gpus[] = {"simt:h200", "simt:mi250x"};

struct memory {
  memory(const std::string& name, std::size_t bytes)
      : gpu(twill::device::open(name)), stream(gpu), in(gpu, bytes), out(gpu, bytes) {
    twill::fill_bytes(stream, in.data(), 1, bytes);
  }

  template <class Run>
  twill::profile of(Run&& run) const {
    return twill::take_profile(gpu, [&] {
      run();
      stream.wait();
    });
  }

  twill::device gpu;
  twill::stream stream;
  twill::raw_buffer in, out;
};

struct matrices {
  const char* kernel;
  std::int64_t rows, cols, bytes, batch;
};

twill::profile of_transpose(const std::string& gpu, const matrices& m) {
  const memory on(gpu, static_cast<std::size_t>(m.rows * m.cols * m.bytes * m.batch));
  const twill::permute_shape shape{{m.batch, m.rows, m.cols}, {0, 2, 1}};
  return on.of([&] { twill::permute_bytes_with(on.stream, m.kernel, on.in.data(), on.out.data(), m.bytes, shape); });
}

// Bytes are moved in whole sectors, and each once.
void check_whole(const twill::profile& seen, std::uint64_t bytes) {
  CHECK(seen.loads.bytes_used == bytes);
  CHECK(seen.stores.bytes_used == bytes);
  CHECK(seen.used() == 1);
}

double most_share(const std::vector<std::uint64_t>& partitions) {
  std::uint64_t all = 0;
  for (const auto bytes : partitions) all += bytes;
  return static_cast<double>(*std::max_element(partitions.begin(), partitions.end()) * partitions.size()) /
         static_cast<double>(all);
}

}  // namespace

TEST_SUITE_BEGIN("profile claims" * doctest::skip(!can_profile));

TEST_CASE("narrow matrices and small odd matrices: whole sectors, no bank conflicts") {
  for (const auto& gpu : gpus) {
    for (const matrices& m : {matrices{"narrow", 16384, 4, 4, 1}, matrices{"narrow", 16384, 2, 16, 1},
                              matrices{"staged", 3, 3, 1, 1 << 17}, matrices{"staged", 5, 7, 1, 1 << 18}}) {
      CAPTURE(gpu);
      CAPTURE(m.kernel);
      CAPTURE(m.rows);
      CAPTURE(m.cols);
      CAPTURE(m.bytes);
      const auto seen = of_transpose(gpu, m);
      check_whole(seen, static_cast<std::uint64_t>(m.rows * m.cols * m.bytes * m.batch));
      CHECK(seen.sectors_per_request() > 14);  // 16 for 32 lanes of 16 bytes; the last ones of a batch are fewer
      CHECK(seen.shared_loads.requests > 0);
      CHECK(seen.shared_conflicts() == 0);
    }
  }
}

TEST_CASE("rows of 32 bytes: no bank conflicts") {
  for (const auto& gpu : gpus) {
    CAPTURE(gpu);
    const auto seen = of_transpose(gpu, {"tiled-4byte", 4096, 32, 1, 1});
    CHECK(seen.loads.bytes_used == 4096 * 32);
    CHECK(seen.stores.bytes_used == 4096 * 32);
    CHECK(seen.shared_loads.requests > 0);
    CHECK(seen.shared_conflicts() == 0);
  }
}

TEST_CASE("gather: tiles are laid out such that bank conflicts cost fewer wavefronts") {
  const struct {
    std::int64_t bytes;
    // Wavefronts a load that conflicts cost with segments as close as possible and a word of padding per 128 bytes, as
    // counted once; and at most now. Where `plain` is below `most`, only the tile is good.
    double plain, most;
    twill::permute_shape shape;
  } cases[] = {{1, 3.93, 1, {{17, 5, 13, 40, 62}, {4, 1, 0, 2, 3}}},
               {1, 2.09, 1.2, {{83, 76, 180}, {0, 2, 1}}},
               {1, 0.75, 1, {{96, 50, 17, 29}, {1, 3, 0, 2}}},
               {2, 11.1, 0.6, {{24, 4, 43, 31, 62}, {2, 0, 4, 3, 1}}},
               {2, 5, 0.6, {{270, 62, 62}, {0, 2, 1}}},
               {2, 2.26, 0.7, {{122, 3, 11, 34, 6}, {0, 4, 1, 3, 2}}},
               {2, 0.01, 0.05, {{32, 26, 3, 39, 34}, {2, 4, 3, 1, 0}}},
               {2, 0.29, 0.5, {{146, 4, 4, 183}, {1, 3, 2, 0}}},
               {4, 0.97, 0.4, {{5, 13, 173, 5, 2}, {0, 3, 1, 2, 4}}},
               {4, 2.21, 0.6, {{492, 97, 31}, {0, 2, 1}}},
               {4, 1.25, 0.5, {{133, 426, 6}, {1, 0, 2}}},
               {4, 0.49, 0.5, {{35, 48, 41}, {1, 2, 0}}},
               {8, 4.1, 0.5, {{2, 77, 2, 16, 6, 15}, {2, 1, 5, 3, 4, 0}}},
               {8, 0.61, 1, {{61, 17, 10, 27}, {3, 0, 2, 1}}}};
  for (const auto& each : cases) {
    std::int64_t bytes = each.bytes;
    for (const auto extent : each.shape.extents) bytes *= extent;
    CAPTURE(bytes);
    const memory on("simt:h200", static_cast<std::size_t>(bytes));
    const auto seen = on.of(
        [&] { twill::permute_bytes_with(on.stream, "gather", on.in.data(), on.out.data(), each.bytes, each.shape); });
    CHECK(seen.shared_loads.requests > 0);
    CHECK(static_cast<double>(seen.shared_loads.conflicts()) <
          each.most * static_cast<double>(seen.shared_loads.requests));
  }
}

TEST_CASE("reverse, scan, reduce: rungs without bank conflicts, and with them") {
  constexpr std::int64_t count = 65536;
  for (const auto& gpu : gpus) {
    CAPTURE(gpu);
    const memory on(gpu, count * 4);
    const auto type = twill::element_type::i32;
    const auto of = [&](const char* op, const char* rung) {
      const auto bytes = twill::array_rung_scratch_bytes(on.gpu, op, type, count);
      const twill::raw_buffer scratch(on.gpu, bytes);
      return on.of([&] {
        twill::array_rung(on.stream, op, rung, on.in.data(), on.out.data(), type, count, {scratch.data(), bytes});
      });
    };
    const auto tuned = of("reverse", "tuned"), shared = of("reverse", "shared");
    check_whole(tuned, count * 4);
    CHECK(tuned.sectors_per_request() == 16);
    CHECK(tuned.shared_loads.requests > 0);
    CHECK(tuned.shared_conflicts() == 0);
    CHECK(shared.shared_loads.requests > 0);
    CHECK(shared.shared_conflicts() == 0);
    CHECK(shared.sectors_per_request() == 4);
    CHECK(of("scan", "conflict-free").shared_conflicts() == 0);
    CHECK(of("scan", "work-efficient").shared_conflicts() > 10000);

    const auto of_reduce = [&](const char* rung) {
      const auto bytes = twill::reduce_rung_scratch_bytes(on.gpu, rung, type, count);
      const twill::raw_buffer scratch(on.gpu, bytes);
      return on.of([&] {
        twill::reduce_rung(on.stream, rung, on.in.data(), on.out.data(), type, count, {scratch.data(), bytes});
      });
    };
    for (const char* rung : {"sequential", "first-add", "unroll-complete", "multiple-per-thread"}) {
      CAPTURE(rung);
      const auto seen = of_reduce(rung);
      CHECK(seen.shared_loads.requests > 0);
      CHECK(seen.shared_conflicts() == 0);
    }
    CHECK(of_reduce("interleaved-strided").shared_conflicts() > 1000);
  }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("profile loads" * doctest::skip(!can_profile));

TEST_CASE("banks: all lanes of a column in one, and in all of them behind a pad") {
  for (const auto& gpu : gpus) {
    CAPTURE(gpu);
    const memory on(gpu, 64 * 64 * 4);
    const auto banks_of_loads = [&](const char* rung) {
      const auto seen = on.of([&] { twill::transpose_rung(on.stream, rung, on.in.data(), on.out.data(), 4, 64, 64); });
      for (const auto& line : seen.kernels[0].lines) {
        if (line.shared_loads.requests > 0) return line.banks;
      }
      return std::vector<twill::bank_load>();
    };
    const auto coalesced = banks_of_loads("coalesced"), padded = banks_of_loads("conflict-free");
    REQUIRE(coalesced.size() == 32);
    REQUIRE(padded.size() == 32);
    for (int bank = 0; bank < 32; ++bank) {
      // Every load of 32 lanes meets one bank: 128 loads over 32 banks, or all of them.
      CHECK(coalesced[bank].ideal_wavefronts == 64 * 64 / 32 / 32);
      CHECK(coalesced[bank].wavefronts == 32 * coalesced[bank].ideal_wavefronts);
      CHECK(padded[bank].ideal_wavefronts == 64 * 64 / 32);
      CHECK(padded[bank].wavefronts == padded[bank].ideal_wavefronts);
    }
  }
}

TEST_CASE("partitions: camping on a GTX 280, and along diagonals none") {
  const memory on("simt:gtx280", 1024 * 1024 * 4);
  const auto busiest = [&](const char* rung) {
    const auto seen =
        on.of([&] { twill::transpose_rung(on.stream, rung, on.in.data(), on.out.data(), 4, 1024, 1024); });
    const auto& kernel = seen.kernels[0];
    REQUIRE(kernel.partitions.size() > 2);
    REQUIRE(kernel.partitions[0].size() == 8);
    std::uint64_t all = 0;
    double most = 0;
    for (const auto& row : kernel.partitions) {
      for (const auto bytes : row) all += bytes;
      most = std::max(most, most_share(row));
    }
    CHECK(all == kernel.loads.bytes_moved + kernel.stores.bytes_moved);
    return most;
  };
  CHECK(busiest("conflict-free") > 3);
  CHECK(busiest("diagonal") < 1.5);
}

TEST_SUITE_END();
