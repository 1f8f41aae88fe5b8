// Files that `twill bench --json` wrote, or somebody else.

#include "tool/bench_file.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::file file(data, size);
  fuzz::parse([&] {
    const auto read = twill::tool::read_bench_file(file.path());
    for (const auto& result : read.results) (void)read.model_of(result.device);
  });
  return 0;
}
