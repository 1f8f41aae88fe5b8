#include <fmt/core.h>

#include <twill/reverse.hpp>

#include "format.hpp"
#include "moving_problem.hpp"
#include "refuse.hpp"

namespace twill::tool {
namespace {

class reverse_problem : public moving_problem {
 public:
  reverse_problem(const extents& size, std::int64_t element_bytes)
      : moving_problem(size), element_bytes_(element_bytes) {}

 protected:
  void move(stream_ref stream, const void* in, void* out) const override {
    reverse_bytes(stream, in, out, size().front(), element_bytes_);
  }
  moved_elements moved() const override {
    const std::int64_t count = size().front();
    return {element_bytes_, (count - 1) * element_bytes_, {{count, -element_bytes_, element_bytes_}}};
  }
  std::int64_t elements_bytes() const override { return size().front() * element_bytes_; }

 private:
  std::int64_t element_bytes_;
};

std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  if (size.size() != 1) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "a line has one",
           "write for example --size 2^26");
  }
  checked_product({size.front(), type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<reverse_problem>(size, type.bytes);
}

std::vector<rung> rungs(const device& on) {
  return moving_rungs(on, "reverse", "twill::reverse: 16 bytes an access, turned round in registers");
}

}  // namespace

const ladder_operation& reverse_operation() {
  static const ladder_operation operation = {"reverse", "2^26", rungs, moving_blocks, make_problem};
  return operation;
}

}  // namespace twill::tool
