#include <fmt/core.h>

#include <twill/copy.hpp>

#include "format.hpp"
#include "moving_problem.hpp"
#include "refuse.hpp"

namespace twill::tool {
namespace {

/// Rows of both sides lie `pitch` elements apart.
class copy_problem : public moving_problem {
 public:
  copy_problem(const extents& size, std::int64_t element_bytes)
      : moving_problem(size),
        rows_(size.size() == 1 ? 1 : size[0]),
        cols_(size.size() == 1 ? size[0] : size[1]),
        pitch_(size.size() == 3 ? size[2] : cols_),
        element_bytes_(element_bytes) {}

  std::int64_t cols() const override { return cols_; }
  std::size_t in_bytes() const override { return span(); }
  std::size_t out_bytes() const override { return span(); }

 protected:
  void move(stream_ref stream, const void* in, void* out) const override {
    copy_bytes(stream, in, out, element_bytes_, {rows_, cols_, pitch_, pitch_});
  }
  moved_elements moved() const override {
    const std::int64_t row = pitch_ * element_bytes_;
    return {element_bytes_, 0, {{rows_, row, row}, {cols_, element_bytes_, element_bytes_}}};
  }
  std::int64_t elements_bytes() const override { return rows_ * cols_ * element_bytes_; }

 private:
  std::size_t span() const { return static_cast<std::size_t>(((rows_ - 1) * pitch_ + cols_) * element_bytes_); }

  std::int64_t rows_, cols_, pitch_, element_bytes_;
};

std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  if (size.size() > 3) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "a copy has at most three",
           "write --size LENGTH, ROWSxCOLS or ROWSxCOLSxPITCH");
  }
  if (size.size() == 3 && size[2] < size[1]) {
    refuse(fmt::format("size {} has a pitch of {}", extents_text(size), size[2]),
           fmt::format("a row has {} elements", size[1]), "give a pitch of at least that");
  }
  checked_product({size.front(), size.size() == 1 ? 1 : size.back(), type.bytes, 2},
                  fmt::format("size {}", extents_text(size)));
  return std::make_unique<copy_problem>(size, type.bytes);
}

std::vector<rung> rungs(const device& on) {
  return moving_rungs(on, "copy", "twill::copy: rows in aligned pieces of 16 bytes");
}

}  // namespace

const ladder_operation& copy_operation() {
  static const ladder_operation operation = {"copy", "4096x4095x4097", rungs, moving_blocks, make_problem};
  return operation;
}

}  // namespace twill::tool
