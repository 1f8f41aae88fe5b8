// twill::transpose on the default device, or on the one that TWILL_DEVICE names, beside memcpy of the same bytes.
// "bytes_per_second" counts what is read and what is written: 2 * rows * cols * element bytes a call.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <twill/twill.hpp>

namespace {

std::string device_name() {
  const char* named = std::getenv("TWILL_DEVICE");
  return named != nullptr ? named : twill::device::default_name();
}

/// A square matrix of random-looking bytes and room for its transpose.
struct problem {
  explicit problem(const benchmark::State& state)
      : rows(state.range(0)),
        element_bytes(state.range(1)),
        gpu(twill::device::open(device_name())),
        stream(gpu),
        in(gpu, bytes()),
        out(gpu, bytes()) {
    std::vector<unsigned char> host(bytes());
    std::uint32_t word = 1;
    for (auto& byte : host) byte = static_cast<unsigned char>((word = word * 1664525u + 1013904223u) >> 24);
    in.upload(host, stream);
    stream.wait();
  }

  std::size_t bytes() const { return static_cast<std::size_t>(rows * rows * element_bytes); }

  std::int64_t rows, element_bytes;
  twill::device gpu;
  twill::stream stream;
  twill::buffer<unsigned char> in, out;
};

/// Calls in a batch long enough that waiting for the last does not count.
constexpr int calls = 8;

template <class Call>
void measure(benchmark::State& state, const problem& p, Call call) {
  for (auto unused : state) {
    static_cast<void>(unused);
    for (int k = 0; k < calls; ++k) call();
    p.stream.wait();
  }
  state.SetBytesProcessed(state.iterations() * calls * 2 * static_cast<std::int64_t>(p.bytes()));
}

void transpose(benchmark::State& state) {
  problem p(state);
  measure(state, p,
          [&] { twill::transpose_bytes(p.stream, p.in.data(), p.out.data(), p.element_bytes, {p.rows, p.rows}); });
}

void memcpy(benchmark::State& state) {
  problem p(state);
  measure(state, p, [&] { twill::copy_bytes(p.stream, p.in.data(), p.out.data(), p.bytes()); });
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "element_bytes"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t rows : {2048, 4096, 8192}) {
    for (const std::int64_t element_bytes : {1, 2, 4, 8, 16}) b->Args({rows, element_bytes});
  }
}

BENCHMARK(memcpy)->Apply(sizes);
BENCHMARK(transpose)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
