// Datasheets of simulated devices.

#include "backends/simt/models.hpp"

#include "fuzz.hpp"

// The library's own are not asked for.
const twill::simt::embedded_model twill::simt::embedded_models[] = {{"none", "{}"}};
const std::size_t twill::simt::embedded_model_count = 1;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string message = fuzz::parse([&] {
    const auto sheet = twill::simt::parse_datasheet(text, "fuzz");
    if (sheet.multiprocessors == 0 || sheet.vendor.empty()) __builtin_trap();
  });
  if (message.size() > 1000 || message.find('\n') != std::string::npos) __builtin_trap();  // one line, not the file
  return 0;
}
