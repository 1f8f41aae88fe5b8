#include "moved_transpose.hpp"

#include <cstring>

#include <fmt/core.h>

#include <twill/error.hpp>
#include <twill/transpose.hpp>

#include "format.hpp"
#include "refuse.hpp"

namespace twill::tool {
namespace {

/// On host memory, one element after the other.
void transpose_naively(const unsigned char* in, unsigned char* out, const transpose_shape& shape, std::size_t bytes) {
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      for (std::int64_t c = 0; c < shape.cols; ++c, in += bytes) {
        const std::int64_t to = (b * shape.cols + c) * shape.rows + r;
        std::memcpy(out + static_cast<std::size_t>(to) * bytes, in, bytes);
      }
    }
  }
}

}  // namespace

extents matrix_extents(const extents& size) {
  if (size.size() > 3) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()),
           "a matrix has two, a batch of them three", "write --size ROWSxCOLS, BATCHxROWSxCOLS, or N for a square");
  }
  return size.size() == 1 ? extents{size.front(), size.front()} : size;
}

moved_transpose::moved_transpose(const extents& size, std::int64_t element_bytes)
    : moving_problem(matrix_extents(size)), element_bytes_(element_bytes) {
  const extents all = matrix_extents(size);
  batch_ = all.size() == 3 ? all.front() : 1;
  rows_ = all[all.size() - 2];
  cols_ = all.back();
  checked_product({batch_, rows_, cols_, element_bytes, 4}, fmt::format("size {}", extents_text(size)));
}

void moved_transpose::run(stream_ref stream, const rung& which, const void* in, void* out,
                          const rung_options& options) const {
  if (which.name == "cpu-naive") {
    transpose_naively(static_cast<const unsigned char*>(in), static_cast<unsigned char*>(out), {rows_, cols_, batch_},
                      static_cast<std::size_t>(element_bytes_));
    return;
  }
  if (which.name != "memcpy" && which.name != "tuned" && which.name != "cpu-tuned") {
    throw error(errc::unsupported,
                fmt::format("{} moves one matrix, of elements of 1, 2, 4, 8 or 16 bytes", which.name));
  }
  moving_problem::run(stream, which, in, out, options);
}

void moved_transpose::move(stream_ref stream, const void* in, void* out) const {
  transpose_bytes(stream, in, out, element_bytes_, {rows_, cols_, batch_});
}

moved_elements moved_transpose::moved() const {
  const std::int64_t bytes = element_bytes_, matrix = rows_ * cols_ * bytes;
  return {bytes, 0, {{batch_, matrix, matrix}, {cols_, bytes, rows_ * bytes}, {rows_, cols_ * bytes, bytes}}};
}

}  // namespace twill::tool
