// A device that is open before main, of a library that this program does not name.

#include <iostream>
#include <vector>

#include <twill/twill.hpp>

static const auto gpu = twill::device::open("simt");

int main() try {
  const twill::stream stream(gpu);
  twill::buffer<int> in(gpu, 6), out(gpu, 6);
  std::vector<int> found{1, 2, 3, 4, 5, 6};
  in.upload(found, stream);
  twill::transpose(stream, in.data(), out.data(), {2, 3});
  out.download(found, stream);
  stream.wait();
  std::cout << "a device that is open before main\n";
  return found == std::vector<int>{1, 4, 2, 5, 3, 6} ? 0 : 1;
} catch (const twill::error& fault) {
  std::cerr << fault.what() << '\n';
  return 1;
}
