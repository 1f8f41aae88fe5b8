// Files of cases for the bench.

#include "tool/cases.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::file file(data, size);
  fuzz::parse([&] {
    if (twill::tool::read_cases(file.path()).cases.empty()) __builtin_trap();
  });
  return 0;
}
