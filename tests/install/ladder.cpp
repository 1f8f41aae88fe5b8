#include <iostream>

#include <twill/ladder/transpose.hpp>
#include <twill/twill.hpp>

int main() try {
  int runs = 0;
  for (const auto& name : twill::device::list()) {
    if (name.find(':') != std::string::npos) continue;  // "cpu" and "simt": each has its rungs
    const auto device = twill::device::open(name);
    const twill::stream stream(device);
    const twill::buffer<float> in(device, 100 * 60);
    twill::buffer<float> out(device, 100 * 60);
    for (const auto& rung : twill::transpose_rungs(device)) {
      if (!rung.is_step) continue;
      twill::transpose_rung(stream, rung.name, in.data(), out.data(), sizeof(float), 100, 60);
      ++runs;
    }
    stream.wait();
  }
  std::cout << runs << " rungs\n";
  return 0;
} catch (const twill::error& fault) {
  std::cerr << fault.what() << '\n';
  return 1;
}
