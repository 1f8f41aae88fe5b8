#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <twill/ladder/transpose.hpp>
#include <twill/profile.hpp>
#include <twill/simt.hpp>
#include <twill/twill.hpp>

namespace {

constexpr bool can_profile = !TWILL_SANITIZED;  // a sanitizer has the place of the recorder's hooks

struct matrices {
  matrices(const std::string& name, std::int64_t bytes, std::int64_t rows, std::int64_t cols)
      : gpu(twill::device::open(name)),
        stream(gpu),
        in(gpu, static_cast<std::size_t>(rows * cols * bytes)),
        out(gpu, in.size()),
        element_bytes(bytes),
        rows(rows),
        cols(cols) {
    twill::fill_bytes(stream, in.data(), 1, in.size_bytes());
  }

  twill::profile of_rung(const std::string& rung, const twill::profile_options& options = {}) {
    const auto run = [&] {
      twill::transpose_rung(stream, rung, in.data(), out.data(), element_bytes, rows, cols);
      stream.wait();
    };
    return twill::take_profile(gpu, run, options);
  }

  twill::device gpu;
  twill::stream stream;
  twill::buffer<unsigned char> in, out;
  std::int64_t element_bytes, rows, cols;
};

const std::string gpus[] = {"simt:h200", "simt:mi250x"};

}  // namespace

TEST_SUITE_BEGIN("profile" * doctest::skip(!can_profile));

TEST_CASE("literal: a copy of 64x64 floats takes 4 sectors a warp") {
  matrices on("simt:h200", 4, 64, 64);
  const auto seen = on.of_rung("copy");
  CHECK(seen.loads.requests == 64 * 64 / 32);
  CHECK(seen.stores.requests == 64 * 64 / 32);
  CHECK(seen.loads.sectors == 64 * 64 * 4 / 32);
  CHECK(seen.sectors_per_request() == 4);
  CHECK(seen.used() == 1);
  CHECK(seen.shared_loads.requests == 0);
  REQUIRE(seen.kernels.size() == 1);
  const auto& kernel = seen.kernels[0];
  CHECK(kernel.name == "twill::simt::kernels::copy<unsigned int, 32, 8>");
  CHECK(kernel.grid[0] == 2);
  CHECK(kernel.block[1] == 8);
  CHECK(kernel.blocks == 4);
  CHECK(kernel.recorded_blocks == 4);
  REQUIRE(kernel.lines.size() == 2);  // one loads, one stores
  for (const auto& line : kernel.lines) {
    CHECK(line.file.find("src/ladder/gpu/transpose_rungs.hpp") != std::string::npos);
    CHECK(line.loads.requests + line.stores.requests == 64 * 64 / 32);
  }
  CHECK(kernel.lines[0].line < kernel.lines[1].line);
  CHECK(kernel.lines[0].loads.requests == 64 * 64 / 32);
}

TEST_CASE("an H200's own counts for bytes in a tile of pitch 33") {
  // ncu: 32,768 requests for shared loads took 57,344 wavefronts at 1024x1024; a 64x64 matrix has 1/256 of that.
  matrices on("simt:h200", 1, 64, 64);
  const auto seen = on.of_rung("conflict-free");
  CHECK(seen.shared_loads.requests == 128);
  CHECK(seen.shared_loads.wavefronts == 224);
  CHECK(seen.shared_stores.wavefronts == 128);
  CHECK(seen.loads.sectors == 128);
}

TEST_CASE("an H200's own counts for the edges of 1000x1030 floats") {
  matrices on("simt:h200", 4, 1000, 1030);
  const auto seen = on.of_rung("fine-grained");  // chooses between two places of the tile: one load on a GPU
  CHECK(seen.loads.requests == 33000);
  CHECK(seen.stores.requests == 33000);
  CHECK(seen.stores.sectors == 153500);
  CHECK(seen.shared_loads.requests == 33000);
}

TEST_CASE("a line lists every bank, used or not") {
  const std::pair<const char*, std::size_t> known[] = {{"simt:gtx280", 16}, {"simt:h200", 32}, {"simt:mi300x", 32}};
  for (const auto& [name, banks] : known) {
    const char* const gpu = name;
    CAPTURE(gpu);
    matrices on(gpu, 4, 8, 8);  // its rows touch 8 banks
    for (const auto& line : on.of_rung("coalesced").kernels.at(0).lines) {
      if (line.shared_loads.requests + line.shared_stores.requests > 0) CHECK(line.banks.size() == banks);
    }
  }
}

TEST_CASE("rungs are free of bank conflicts where they say so, and not where they do not") {
  for (const auto& gpu : gpus) {
    CAPTURE(gpu);
    matrices on(gpu, 4, 128, 96);
    for (const char* rung : {"conflict-free", "unrolled", "fine-grained", "coarse-grained", "diagonal"}) {
      CAPTURE(rung);
      const auto seen = on.of_rung(rung);
      CHECK(seen.shared_loads.requests > 0);
      CHECK(seen.shared_conflicts() == 0);
      CHECK(seen.loads.sectors == seen.loads.ideal_sectors);
      CHECK(seen.stores.sectors == seen.stores.ideal_sectors);
    }
    const auto columns = on.of_rung("coalesced");
    CHECK(columns.shared_stores.conflicts() == 0);
    CHECK(columns.shared_loads.wavefronts == 32 * columns.shared_loads.ideal_wavefronts);
    CHECK(on.of_rung("naive-row").stores.sectors > 4 * on.of_rung("naive-row").stores.ideal_sectors);
  }
}

TEST_CASE("the tuned transpose of aligned matrices wastes nothing") {
  for (const auto& gpu : gpus) {
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      CAPTURE(gpu);
      CAPTURE(bytes);
      matrices on(gpu, bytes, 512, 512);
      const auto seen = on.of_rung("tuned");
      CHECK(seen.loads.bytes_used == static_cast<std::uint64_t>(512 * 512 * bytes));
      CHECK(seen.stores.bytes_used == static_cast<std::uint64_t>(512 * 512 * bytes));
      CHECK(seen.used() == 1);
      CHECK(seen.shared_loads.requests > 0);
      CHECK(seen.shared_stores.conflicts() == 0);
      // The lanes that CDNA's 16-byte reads serve together are not neighbours: there the tile's rows meet in pairs.
      const std::uint64_t least = on.gpu.properties().vendor == "NVIDIA" ? 1 : 2;
      CHECK(seen.shared_loads.wavefronts <= least * seen.shared_loads.ideal_wavefronts);
    }
  }
}

TEST_CASE("a large launch is sampled, over all its columns of blocks") {
  matrices on("simt:h200", 4, 512, 512);
  twill::profile_options options;
  options.most_threads = 16384;  // a quarter of 256 blocks of 256 threads
  const auto seen = on.of_rung("copy", options);
  REQUIRE(seen.kernels.size() == 1);
  CHECK(seen.kernels[0].blocks == 256);
  CHECK(seen.kernels[0].recorded_blocks > 32);
  CHECK(seen.kernels[0].recorded_blocks <= 64);
  CHECK(seen.loads.requests == seen.kernels[0].recorded_blocks * 32);
}

TEST_CASE("launches come in order, and only those of the work") {
  matrices on("simt:h200", 4, 64, 64);
  const auto run = [&](const char* rung) {
    twill::transpose_rung(on.stream, rung, on.in.data(), on.out.data(), 4, 64, 64);
  };
  run("naive-col");
  const auto seen = twill::take_profile(on.gpu, [&] {
    run("copy");
    run("naive-row");
  });
  run("naive-col");
  REQUIRE(seen.kernels.size() == 2);
  CHECK(seen.kernels[0].name.find("copy<") != std::string::npos);
  CHECK(seen.kernels[1].name.find("naive_row<") != std::string::npos);
  CHECK(seen.loads.requests == seen.kernels[0].loads.requests + seen.kernels[1].loads.requests);
}

TEST_CASE("what throws out of the work ends the recording") {
  matrices on("simt:h200", 4, 64, 64);
  CHECK_THROWS_AS(twill::take_profile(on.gpu, [] { throw 1; }), int);
  CHECK(twill::take_profile(on.gpu, [] {}).kernels.empty());
}

TEST_CASE("launches of several host threads are counted whole, up to the end of the recording") {
  matrices on("simt:h200", 4, 64, 64);
  const twill::stream other(on.gpu);
  twill::buffer<unsigned char> out(on.gpu, on.in.size());
  std::atomic<int> launched = 0;
  std::atomic<bool> enough = false;
  std::thread beside([&] {
    while (!enough) {
      twill::transpose_rung(other, "coalesced", on.in.data(), out.data(), 4, 64, 64);
      ++launched;
    }
  });
  std::size_t kernels = 0, broken = 0;
  for (int i = 0; i < 10; ++i) {
    const auto seen = twill::take_profile(on.gpu, [&] {
      const int before = launched;
      while (launched < before + 3) twill::transpose_rung(on.stream, "copy", on.in.data(), on.out.data(), 4, 64, 64);
    });
    kernels += seen.kernels.size();
    for (const auto& kernel : seen.kernels) {
      const bool whole = kernel.loads.requests == 64 * 64 / 32 && kernel.stores.requests == 64 * 64 / 32;
      broken += whole ? 0 : 1;
    }
  }
  enough = true;
  beside.join();
  CHECK(kernels >= 30);
  CHECK(broken == 0);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("profile errors");

TEST_CASE("errors") {
  for (const char* name : {"cpu", "simt"}) {
    CAPTURE(name);
    try {
      twill::take_profile(twill::device::open(name), [] {});
      FAIL("took a profile");
    } catch (const twill::error& e) {
      CHECK(e.code() == twill::errc::unsupported);
      CHECK(std::string(e.what()).find("simt:h200") != std::string::npos);
    }
  }
}

TEST_CASE("one profile at a time" * doctest::skip(!can_profile)) {
  matrices on("simt:h200", 4, 64, 64);
  const auto seen = twill::take_profile(on.gpu, [&] {
    CHECK_THROWS_WITH_AS(on.of_rung("copy"), doctest::Contains("simt:h200 is recorded already"), twill::error);
    CHECK_THROWS_WITH_AS(twill::predict(on.gpu, [] {}), doctest::Contains("recorded already"), twill::error);
    twill::transpose_rung(on.stream, "copy", on.in.data(), on.out.data(), 4, 64, 64);
  });
  CHECK(seen.kernels.size() == 1);
}

TEST_SUITE_END();
