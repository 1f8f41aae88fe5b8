#include <cstddef>
#include <iostream>
#include <numeric>
#include <vector>

#include <twill/twill.hpp>

int main() try {
  if (twill::device::list().empty()) {  // a build for GPUs alone, on a machine without
    std::cout << "no device here\n";
    return 0;
  }
  const std::size_t rows = 1000, cols = 700;
  std::vector<float> matrix(rows * cols), transposed(rows * cols);
  std::iota(matrix.begin(), matrix.end(), 0.0f);

  const auto device = twill::device::open(twill::device::default_name());  // or "cuda:0", "hip:0", "cpu", "simt:k20"
  const twill::stream stream(device);
  twill::buffer<float> in(device, matrix.size()), out(device, matrix.size());

  in.upload(matrix, stream);
  twill::transpose(stream, in.data(), out.data(), {rows, cols});
  out.download(transposed, stream);
  stream.wait();

  std::size_t wrong = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) wrong += transposed[col * rows + row] != matrix[row * cols + col];
  }
  std::cout << rows << " x " << cols << " on " << device.properties().model << ": " << wrong << " elements wrong\n";
  return wrong == 0 ? 0 : 1;
} catch (const twill::error& fault) {
  std::cerr << fault.what() << '\n';
  return 1;
}
