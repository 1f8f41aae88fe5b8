#include <iostream>

#include <twill/profile.hpp>
#include <twill/simt.hpp>
#include <twill/twill.hpp>

int main() try {
  const auto gpu = twill::device::open("simt:gtx280");
  const twill::stream stream(gpu);
  const twill::buffer<float> in(gpu, 256 * 256);
  twill::buffer<float> out(gpu, 256 * 256);
  const auto seen = twill::take_profile(gpu, [&] { twill::transpose(stream, in.data(), out.data(), {256, 256}); });
  const auto predicted = twill::predict(gpu, [&] { twill::transpose(stream, in.data(), out.data(), {256, 256}); });
  std::cout << seen.kernels.size() << " kernels, " << seen.loads.bytes_used << " bytes read, in "
            << predicted.seconds * 1e6 << " us\n";
  return seen.loads.bytes_used == 256 * 256 * sizeof(float) && predicted.seconds > 0 ? 0 : 1;
} catch (const twill::error& fault) {
  std::cerr << fault.what() << '\n';
  return 1;
}
