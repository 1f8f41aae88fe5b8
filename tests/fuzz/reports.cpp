// Files that `twill bench --json` wrote, or somebody else.

#include "tool/report.hpp"

#include <twill/version.hpp>

#include "fuzz.hpp"

// The library is not linked, for its backends have no part in this.
const char* twill::version() noexcept {
  return "fuzz";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::file file(data, size);
  fuzz::parse([&] {
    const auto read = twill::tool::read_bench_file(file.path());
    for (const auto& result : read.results) (void)read.model_of(result.device);
  });
  return 0;
}
