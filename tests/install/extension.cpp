// What the bindings of an interpreter are: a shared object with a function or two.

#include <cstring>
#include <vector>

#include <twill/twill.hpp>

/// Transposes on the device of that name; the number of wrong elements, or -1 with the reason in `message`.
extern "C" __attribute__((visibility("default"))) int transpose_on(const char* name, char* message, std::size_t size) {
  try {
    constexpr int rows = 70, cols = 90;
    std::vector<int> matrix(rows * cols), transposed(rows * cols);
    for (int i = 0; i < rows * cols; ++i) matrix[i] = i;
    const auto device = twill::device::open(name);
    const twill::stream stream(device);
    twill::buffer<int> in(device, matrix.size()), out(device, matrix.size());
    in.upload(matrix, stream);
    twill::transpose(stream, in.data(), out.data(), {rows, cols});
    out.download(transposed, stream);
    stream.wait();
    int wrong = 0;
    for (int i = 0; i < rows * cols; ++i) wrong += transposed[i % cols * rows + i / cols] != i;
    return wrong;
  } catch (const twill::error& fault) {
    std::strncpy(message, fault.what(), size - 1);
    return -1;
  }
}
