#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <twill/ladder/transpose.hpp>
#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/image.hpp"
#include "support/transpose_reference.hpp"

namespace {

using support::on_each_stream;

// Libraries compute 1 * x, which does not keep the bits of every NaN.
bool is_vendor_library(const twill::rung& rung) {
  return rung.name.find("geam") != std::string_view::npos || rung.name == "openblas-omatcopy";
}

void check_rung(twill::stream_ref stream, const twill::rung& rung, std::int64_t bytes, std::int64_t rows,
                std::int64_t cols, const twill::rung_options& options) {
  const auto size = static_cast<std::size_t>(rows * cols * bytes);
  const support::image in(stream, size, 0, 3, is_vendor_library(rung));
  support::image out(stream, size, 0, 4, is_vendor_library(rung));
  twill::transpose_rung(stream, rung.name, in.data(), out.data(), bytes, rows, cols, options);
  const auto edge = options.block.x != 0 ? options.block.x : rung.block.x;
  support::rung_reference(in.expected(), out.expected(), bytes, rows, cols, rung.promise, edge);
  const std::string name(rung.name);
  CAPTURE(name);
  CAPTURE(bytes);
  CAPTURE(rows);
  CAPTURE(cols);
  CAPTURE(options.block.x);
  CAPTURE(options.block.y);
  CAPTURE(options.repeats);
  CHECK(out.matches(stream));
}

}  // namespace

TEST_SUITE_BEGIN("transpose ladder");

TEST_CASE("literal: the two halves of a transpose") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    if (!device.properties().is_gpu && device.properties().backend != "simt") return;
    // 32 x 64 bytes: two tiles. fine-grained mirrors each where it is, coarse-grained stacks them.
    std::vector<unsigned char> host(32 * 64), result(host.size());
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i % 251);
    twill::buffer<unsigned char> a(device, host.size()), b(device, host.size());
    a.upload(host, stream);
    twill::transpose_rung(stream, "fine-grained", a.data(), b.data(), 1, 32, 64);
    b.download(result, stream);
    stream.wait();
    CHECK(result[1] == host[64]);
    CHECK(result[64 + 32] == host[33]);
    twill::transpose_rung(stream, "coarse-grained", a.data(), b.data(), 1, 32, 64);
    b.download(result, stream);
    stream.wait();
    CHECK(result[1] == host[1]);
    CHECK(result[32 * 32] == host[32]);
  });
}

TEST_CASE("names: every device has what the ladder promises") {
  on_each_stream([](const twill::device& device, twill::stream_ref) {
    std::set<std::string> names;
    for (const auto& rung : twill::transpose_rungs(device)) {
      CHECK(rung.op == "transpose");
      CHECK_FALSE(rung.lesson.empty());
      CHECK_FALSE(rung.source.empty());
      CHECK(names.insert(std::string(rung.name)).second);
    }
    std::vector<std::string> needed{"cpu-naive", "cpu-tuned", "memcpy"};
    if (device.properties().backend != "cpu") {
      needed = {"copy",     "copy-shared",  "naive-row",      "naive-col", "coalesced", "conflict-free",
                "unrolled", "fine-grained", "coarse-grained", "diagonal",  "tuned",     "memcpy"};
    }
    for (const auto& name : needed) {
      CAPTURE(name);
      CHECK(names.count(name) == 1);
    }
  });
}

TEST_CASE("reference: every rung, block and element size, shapes around tile edges") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    const std::int64_t shapes[][2] = {{1, 1}, {1, 100}, {100, 1}, {31, 33}, {64, 32}, {65, 130}};
    for (const auto& rung : twill::transpose_rungs(device)) {
      for (std::int64_t bytes : {1, 2, 4, 8, 16}) {
        if (is_vendor_library(rung) && bytes < 4) continue;
        auto blocks = twill::transpose_rung_blocks(device, rung.name, bytes);
        if (bytes < 16) CHECK(blocks.empty() == (rung.block.x == 0));
        if (blocks.empty() && rung.block.x != 0) continue;  // 16 KiB of shared memory hold no tile of 16-byte elements
        if (blocks.empty()) blocks.push_back({});
        for (const auto block : blocks) {
          for (const auto& shape : shapes) check_rung(stream, rung, bytes, shape[0], shape[1], {block, 1});
        }
      }
    }
  });
}

TEST_CASE("reference: repeats inside the kernel leave the same result") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::transpose_rungs(device)) check_rung(stream, rung, 4, 70, 45, {{}, 3});
  });
}

TEST_CASE("bounds: tile rows beyond grid y's limit") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    const std::int64_t rows = 65536 * 16 + 5;  // 16 x 16 tiles: 65,537 tile rows
    for (const auto& rung : twill::transpose_rungs(device)) {
      if (rung.block.x == 0 || rung.name == "naive-col") continue;
      check_rung(stream, rung, 4, rows, 2, {{16, 16}, 1});
    }
    if (device.properties().backend != "cpu") {
      check_rung(stream, twill::transpose_rungs(device)[3], 4, 2, rows, {{16, 16}, 1});  // naive-col covers the output
    }
  });
}

TEST_CASE("bounds: beyond 2^31 elements, on GPUs with the memory for it") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    const std::int64_t rows = 3, cols = (std::int64_t{1} << 30) + 77, end = 4096;  // the last columns are compared
    if (!device.properties().is_gpu || device.memory().free_bytes < std::size_t{8} << 30) return;
    const twill::raw_buffer in(device, static_cast<std::size_t>(rows * cols));
    const twill::raw_buffer out(device, static_cast<std::size_t>(rows * cols));
    std::vector<unsigned char> columns(static_cast<std::size_t>(rows * end)), found(columns.size()), wanted(found);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<unsigned char>(i * 37 + i / 251);
    for (std::int64_t row = 0; row < rows; ++row) {
      twill::upload_bytes(stream, columns.data() + row * end, static_cast<char*>(in.data()) + (row + 1) * cols - end,
                          static_cast<std::size_t>(end));
    }
    support::transpose_reference(columns.data(), wanted.data(), 1, {rows, end});
    for (const auto& rung : twill::transpose_rungs(device)) {
      if (rung.promise != twill::rung_promise::transpose || is_vendor_library(rung)) continue;
      twill::fill_bytes(stream, out.data(), 0xA5, out.size_bytes());
      twill::transpose_rung(stream, rung.name, in.data(), out.data(), 1, rows, cols);
      const auto* last = static_cast<const char*>(out.data()) + (cols - end) * rows;
      twill::download_bytes(stream, last, found.data(), found.size());
      stream.wait();
      const std::string name(rung.name);
      CAPTURE(name);
      CHECK(found == wanted);
    }
  });
}

TEST_CASE("bounds: empty matrices launch nothing") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::transpose_rungs(device)) {
      CHECK_NOTHROW(twill::transpose_rung(stream, rung.name, nullptr, nullptr, 4, 0, 7));
      CHECK_NOTHROW(twill::transpose_rung(stream, rung.name, nullptr, nullptr, 4, 7, 0));
    }
  });
}

TEST_CASE("errors: the same on every device") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    support::image in(stream, 4096, 0, 1), out(stream, 4096, 0, 2);
    void* a = in.data();
    void* b = out.data();
    const std::string first(twill::transpose_rungs(device)[0].name);
    const auto code = [&](std::string_view name, const void* from, void* to, std::int64_t bytes, std::int64_t rows,
                          std::int64_t cols, const twill::rung_options& options) {
      try {
        twill::transpose_rung(stream, name, from, to, bytes, rows, cols, options);
      } catch (const twill::error& e) {
        return e.code();
      }
      FAIL("nothing was thrown");
      return twill::errc{};
    };
    const auto invalid = twill::errc::invalid_argument;
    CHECK(code("no-such-rung", a, b, 4, 2, 2, {}) == invalid);
    CHECK(code(first, a, b, 3, 2, 2, {}) == invalid);
    CHECK(code(first, a, b, 4, -1, 2, {}) == invalid);
    CHECK(code(first, a, b, 4, INT64_MAX, 2, {}) == invalid);
    CHECK(code(first, nullptr, b, 4, 2, 2, {}) == invalid);
    CHECK(code(first, a, nullptr, 4, 2, 2, {}) == invalid);
    CHECK(code(first, a, static_cast<char*>(a) + 4, 4, 2, 2, {}) == invalid);
    CHECK(code(first, static_cast<char*>(a) + 2, b, 4, 2, 2, {}) == invalid);
    CHECK(code(first, a, b, 4, 2, 2, {{}, 0}) == invalid);
    if (device.properties().backend != "cpu") {
      CHECK(code("conflict-free", a, b, 4, 2, 2, {{8, 32}, 1}) == invalid);
      CHECK(code("conflict-free", a, b, 4, 2, 2, {{7, 7}, 1}) == invalid);
      CHECK(code("conflict-free", a, b, 2, 2, 2, {{16, 16}, 1}) == twill::errc::unsupported);
      CHECK(code("naive-row", a, b, 8, 2, 2, {{8, 32}, 1}) == twill::errc::unsupported);
      CHECK(twill::transpose_rung_blocks(device, "conflict-free", 8).size() == 1);
      CHECK(twill::transpose_rung_blocks(device, "conflict-free", 4).size() > 1);
    }
    CHECK(in.matches(stream));
    CHECK(out.matches(stream));
  });
}

TEST_SUITE_END();
