// Datasheets, and the memory of devices that are simulated after them.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "models.hpp"
#include "support/simt_launch.hpp"

using namespace twill;
using support::contains;
using support::error_of;

namespace {

const std::string good = R"({
  "vendor": "NVIDIA", "model": "Test card", "architecture": "sm_13", "memory_type": "GDDR3",
  "memory_bytes": 1000000, "bus_width_bits": 512, "memory_transfers_per_second": 2000000000,
  "peak_bytes_per_second": 128000000000, "multiprocessors": 30, "core_clock_hz": 602000000,
  "warp_size": 32, "max_threads_per_block": 256, "max_threads_per_multiprocessor": 1024,
  "max_blocks_per_multiprocessor": 8, "registers_per_multiprocessor": 16384,
  "shared_bytes_per_block": 8192, "shared_bytes_per_multiprocessor": 16384, "l2_bytes": 0,
  "sources": ["made up"]
})";

// `good` with one piece of text replaced.
std::string with(const std::string& old, const std::string& replacement) {
  auto text = good;
  const auto at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), replacement);
}

std::string complaint(const std::string& json) {
  return error_of([&] { simt::parse_datasheet(json, "mine.json"); });
}

}  // namespace

TEST_SUITE_BEGIN("simt models");

TEST_CASE("literal: the GTX 280") {
  const auto p = device::open("simt:gtx280").properties();
  CHECK(p.name == "simt:gtx280");
  CHECK(p.backend == "simt");
  CHECK(p.vendor == "NVIDIA");
  CHECK(p.model == "GeForce GTX 280");
  CHECK(p.architecture == "sm_13");
  CHECK(p.memory_bytes == std::size_t{1} << 30);
  CHECK(p.peak_bytes_per_second == doctest::Approx(141.7e9).epsilon(0.001));
  CHECK(p.cache_bytes == 0);
  CHECK(p.multiprocessors == 30);
  CHECK(p.warp_size == 32);
  CHECK(p.max_threads_per_block == 512);
  CHECK(p.shared_bytes_per_block == 16384);
  CHECK_FALSE(p.is_gpu);
}

TEST_CASE("every datasheet is whole, and there is one for each device promised") {
  std::string names;
  for (std::size_t i = 0; i < simt::embedded_model_count; ++i) {
    const std::string name = simt::embedded_models[i].name;
    names += name + " ";
    CAPTURE(name);
    const auto sheet = simt::find_datasheet(name);
    CHECK((sheet.vendor == "NVIDIA" || sheet.vendor == "AMD"));
    CHECK(sheet.max_threads_per_multiprocessor >= sheet.max_threads_per_block);
    CHECK(sheet.shared_bytes_per_multiprocessor >= sheet.shared_bytes_per_block);
    CHECK(sheet.sources.size() >= 2);
    CHECK(device::open("simt:" + name).properties().model == sheet.model);
  }
  for (const char* name : {"8800gtx", "gtx280", "k20", "v100", "a100", "h100", "h200", "b200", "mi50", "mi100",
                           "mi250x", "mi300x", "rx6800xt", "rx7900xtx"}) {
    CHECK(contains(names, std::string(name) + " "));
  }
}

TEST_CASE("the generic device") {
  const auto p = device::open("simt").properties();
  CHECK(p.name == "simt");
  CHECK(p.vendor == "simulated");
  CHECK(p.warp_size == 32);
  CHECK(p.max_threads_per_block == 1024);
  CHECK(p.shared_bytes_per_block == 65536);
  CHECK(p.peak_bytes_per_second == 0);
  CHECK_FALSE(p.is_gpu);
}

TEST_CASE("a datasheet of one's own") {
  const auto path = std::filesystem::temp_directory_path() / "twill_simt_models_test.json";
  std::ofstream(path) << good;
  const auto gpu = device::open("simt:" + path.string());
  std::filesystem::remove(path);
  CHECK(gpu.properties().name == "simt:" + path.string());
  CHECK(gpu.properties().model == "Test card");
  CHECK(gpu.properties().max_threads_per_block == 256);
  CHECK(gpu.properties().shared_bytes_per_block == 8192);
}

TEST_CASE("errors: a malformed datasheet names the field and what it should be") {
  CHECK(complaint(good) == "");
  CHECK(contains(complaint("{"), "invalid_argument: the datasheet mine.json is not usable ("));
  CHECK(contains(complaint("[]"), "it must be a JSON object"));
  CHECK(contains(complaint(with("\"vendor\": \"NVIDIA\", ", "")), "(vendor is missing; it is a text)"));
  CHECK(contains(complaint(with("\"NVIDIA\"", "7")), "(vendor is 7; it must be a text)"));
  CHECK(contains(complaint(with("\"Test card\"", "\"\"")), "(model is \"\"; it must be a text)"));
  CHECK(contains(complaint(with("1000000,", "\"1 GB\",")),
                 "(memory_bytes is \"1 GB\"; it must be an integer from 1 to 281474976710656)"));
  CHECK(contains(complaint(with("\"multiprocessors\": 30", "\"multiprocessors\": -30")),
                 "(multiprocessors is -30; it must be an integer from 1 to 65535)"));
  CHECK(contains(complaint(with("\"max_threads_per_block\": 256", "\"max_threads_per_block\": 2048")),
                 "(max_threads_per_block is 2048; it must be an integer from 32 to 1024)"));
  CHECK(contains(complaint(with("\"warp_size\": 32", "\"warp_size\": 48")), "warp_size is 48; that of sm_13 is 32"));
  CHECK(complaint(with("602000000", "602e6")) == "");
  CHECK(contains(complaint(with("602000000", "602.5")), "core_clock_hz is 602.5; it must be an integer"));
  CHECK(contains(complaint(with("\"sm_13\"", "\"sm_99\"")),
                 "mine.json is not usable (architecture is \"sm_99\"; it must be"));
  CHECK(contains(complaint(with("l2_bytes", "l2_byte")), "no field is called \"l2_byte\""));
  CHECK(contains(complaint(with("[\"made up\"]", "\"made up\"")), "sources must be a list of texts"));
  CHECK(contains(complaint(with("[\"made up\"]", "[]")), "sources must be a list of texts"));
  CHECK(contains(complaint(with("[\"made up\"]", "[\"\"]")), "sources must be a list of texts"));
  CHECK(contains(complaint(with("\"l2_bytes\": 0,", "\"l2_bytes\": 0, \"l2_bytes\": 1,")),
                 "\"l2_bytes\" is given twice"));
  CHECK(contains(
      complaint(with("128000000000", "12800000000")),
      "peak_bytes_per_second is 12800000000; bus_width_bits / 8 * memory_transfers_per_second is 128000000000"));
}

TEST_CASE("errors: values of any depth and length give one short line") {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']'), wide(1000000, 'x');
  CHECK(contains(complaint(with("\"NVIDIA\"", deep)), "(vendor is an array; it must be a text)"));
  CHECK(
      contains(complaint(with("\"multiprocessors\": 30", "\"multiprocessors\": " + deep)), "is an array; it must be"));
  for (const std::string& text : {with("\"sm_13\"", "\"" + wide + "\""), with("l2_bytes", wide), with("30,", wide),
                                  with("l2_bytes", "l2\\nbytes"), with("30,", "\"" + wide + "\","),
                                  with("\"sources\"", "\"timing\": {\"channels\": " + deep + "}, \"sources\"")}) {
    const std::string message = complaint(text);
    CHECK(message.size() > 40);
    CHECK(message.size() < 1000);
    CHECK(message.find('\n') == std::string::npos);
    CHECK_FALSE(contains(message, "json.exception"));
  }
}

TEST_CASE("errors: figures that contradict each other") {
  CHECK(contains(complaint(with("\"warp_size\": 32", "\"warp_size\": 64")), "(warp_size is 64; that of sm_13 is 32)"));
  CHECK(contains(complaint(with("sm_13", "gfx90a")), "(warp_size is 32; that of gfx90a is 64)"));
  CHECK(complaint(with("sm_13", "gfx1030")) == "");
  CHECK(contains(complaint(with("\"max_threads_per_multiprocessor\": 1024", "\"max_threads_per_multiprocessor\": 255")),
                 "(max_threads_per_multiprocessor is 255; it must be at least max_threads_per_block, which is 256)"));
  CHECK(contains(complaint(with("16384,", "1023,")),
                 "(registers_per_multiprocessor is 1023; it must be at least max_threads_per_multiprocessor, which is "
                 "1024)"));
  CHECK(
      contains(complaint(with("\"shared_bytes_per_multiprocessor\": 16384", "\"shared_bytes_per_multiprocessor\": 0")),
               "(shared_bytes_per_multiprocessor is 0; it must be at least shared_bytes_per_block, which is 8192)"));
  const auto copy = [](const std::string& rate) {
    return complaint(with("\"sources\"", "\"timing\": {\"copy_bytes_per_second\": " + rate + "}, \"sources\""));
  };
  CHECK(copy("128000000000").empty());
  CHECK(contains(copy("128000000001"),
                 "(timing.copy_bytes_per_second is 128000000001; it must be at most peak_bytes_per_second, which is "
                 "128000000000)"));
}

TEST_CASE("errors: memory beyond the addresses of a device") {
  CHECK(complaint(with("1000000,", "281474976710656,")).empty());
  CHECK(contains(complaint(with("1000000,", "4611686018427387904,")),
                 "(memory_bytes is 4611686018427387904; it must be an integer from 1 to 281474976710656)"));
}

TEST_CASE("what predictions were compared with") {
  CHECK(contains(predictions_compared_with(device::open("simt:h200")), "median error 5.2 %"));
  CHECK(predictions_compared_with(device::open("simt:mi300x")).empty());
  for (std::size_t i = 0; i < simt::embedded_model_count; ++i) {
    CAPTURE(simt::embedded_models[i].name);
    CHECK_FALSE(simt::find_datasheet(simt::embedded_models[i].name).compared_with.empty());
  }
  CHECK(simt::parse_datasheet(good, "mine.json").compared_with.empty());
  CHECK(contains(complaint(with("\"sources\"", "\"compared_with\": 7, \"sources\"")),
                 "(compared_with is 7; it must be a text)"));
  CHECK(
      contains(error_of([] { predictions_compared_with(device::open("cpu")); }), "unsupported: cpu predicts no times"));
}

TEST_CASE("errors: unknown devices and files") {
  const auto unknown = error_of([] { device::open("simt:gtx9999"); });
  CHECK(contains(unknown, "no_device: device::open: no simulated device \"simt:gtx9999\""));
  CHECK(contains(unknown, "simt:gtx280"));
  CHECK(contains(unknown, "simt:mi300x"));
  CHECK(contains(error_of([] { device::open("simt:/nowhere/mine.json"); }),
                 "invalid_argument: device::open: cannot read the datasheet /nowhere/mine.json"));
  const auto folder = std::filesystem::temp_directory_path() / "twill_simt_models_test_folder.json";
  std::filesystem::create_directory(folder);
  CHECK(contains(error_of([&] { device::open("simt:" + folder.string()); }), "cannot read the datasheet"));
  std::filesystem::remove(folder);
  // A FIFO without a writer must not be waited for.
  const auto fifo = std::filesystem::temp_directory_path() / "twill_simt_models_test_fifo.json";
  std::filesystem::remove(fifo);
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { device::open("simt:" + fifo.string()); }), "it is empty or not a regular file"));
  std::filesystem::remove(fifo);
}

TEST_CASE("errors: the timing part of a datasheet") {
  const auto timing = [](const std::string& text) {
    return complaint(with("\"sources\"", "\"timing\": " + text + ", \"sources\""));
  };
  CHECK(timing(R"({"channels": 6, "channel_hash": "none"})").empty());
  CHECK(contains(timing("[]"), "timing must be an object"));
  CHECK(contains(timing(R"({"channel": 6})"), "no field is called \"timing.channel\""));
  CHECK(contains(timing(R"({"channels": "six"})"), "timing.channels is \"six\"; it must be an integer from 1"));
  CHECK(contains(timing(R"({"channels": 0})"), "timing.channels is 0"));
  CHECK(contains(timing(R"({"channels": 6.5})"), "timing.channels is 6.5; it must be an integer from 1 to 1024"));
  CHECK(contains(timing(R"({"l2_fill_bytes": 33.3})"), "timing.l2_fill_bytes is 33.3; it must be an integer"));
  CHECK(contains(timing(R"({"alu_latency_clocks": 0.5})"), "it must be a number from 1 to 1000"));
  CHECK(contains(timing(R"({"channels": 6, "channels": 8})"), "\"channels\" is given twice"));
  CHECK(contains(timing(R"({"channel_hash": "magic"})"), "it must be one of none, uniform, mi200, mi300"));
  CHECK(contains(timing(R"({"banks": 8})"), "need all three"));
}

TEST_CASE("errors: channels that the hash was not published for") {
  const auto timing = [](const std::string& text) {
    return complaint(with("\"sources\"", "\"timing\": {" + text + "}, \"sources\""));
  };
  const std::string mi200 = "must be 32 with it, and timing.channel_bytes 256";
  const std::string mi300 = "must be 128 with it, and timing.channel_bytes 256";
  CHECK(timing(R"("channel_hash": "mi200", "channels": 32)").empty());
  CHECK(timing(R"("channel_hash": "mi200", "channels": 32, "channel_bytes": 256)").empty());
  CHECK(timing(R"("channels": 128, "channel_hash": "mi300")").empty());
  CHECK(contains(timing(R"("channel_hash": "mi200")"), mi200));
  CHECK(contains(timing(R"("channel_hash": "mi200", "channels": 31)"), mi200));
  CHECK(contains(timing(R"("channel_hash": "mi200", "channels": 33)"), mi200));
  CHECK(contains(timing(R"("channel_hash": "mi200", "channels": 32, "channel_bytes": 512)"), mi200));
  CHECK(contains(timing(R"("channel_hash": "mi300")"), mi300));
  CHECK(contains(timing(R"("channel_hash": "mi300", "channels": 32)"), mi300));
  CHECK(contains(timing(R"("channel_hash": "mi300", "channels": 128, "channel_bytes": 4096)"), mi300));
}

TEST_CASE("memory") {
  const auto old = device::open("simt:8800gtx");
  const auto all = old.memory();
  CHECK(all.total_bytes == std::size_t{768} << 20);
  CHECK(all.free_bytes <= all.total_bytes);
  {
    const raw_buffer half(old, 400 << 20);
    CHECK(reinterpret_cast<std::uintptr_t>(half.data()) % 256 == 0);
    CHECK(old.memory().free_bytes <= all.total_bytes - half.size_bytes());
    const auto message = error_of([&] { raw_buffer(old, 400 << 20); });
    CHECK(contains(message, "allocation of 419430400 bytes on simt:8800gtx failed"));
    CHECK(contains(message, "of 805306368 bytes are free"));
  }
  const raw_buffer again(old, 600 << 20);
  for (const char* name : {"simt", "simt:h200", "cpu"}) {
    const auto message = error_of([&] { raw_buffer(device::open(name), std::size_t{1} << 50); });
    CHECK(contains(message, "allocation of 1125899906842624 bytes on " + std::string(name) + " failed"));
  }
}

TEST_SUITE_END();
