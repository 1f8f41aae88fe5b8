#include <fmt/core.h>

#include <twill/transpose_in_place.hpp>

#include "moved_transpose.hpp"

namespace twill::tool {
namespace {

constexpr std::string_view least_name = "least-scratch";

/// The matrices lie in the output, and scratch memory behind them.
class in_place_problem : public moved_transpose {
 public:
  in_place_problem(const extents& size, std::int64_t element_bytes)
      : moved_transpose(size, element_bytes), shape_{rows(), cols(), batch()} {}

  std::size_t out_bytes() const override { return scratch_place() + scratch_bytes(scratch_size::fast); }
  std::size_t touched_bytes() const override { return in_bytes(); }

  void place_input(stream_ref stream, const void* in, void* out) const override {
    copy_bytes(stream, in, out, in_bytes());
  }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    if (which.promise == rung_promise::copy) return moved_transpose::run(stream, which, in, out, options);
    const auto size = which.name == least_name ? scratch_size::least : scratch_size::fast;
    transpose_in_place_bytes(stream, out, element_bytes(), shape_,
                             {static_cast<unsigned char*>(out) + scratch_place(), scratch_bytes(size)});
  }

 protected:
  std::size_t checked_bytes() const override { return in_bytes(); }

 private:
  std::size_t scratch_place() const { return (in_bytes() + 255) / 256 * 256; }
  std::size_t scratch_bytes(scratch_size size) const {
    return transpose_in_place_scratch_bytes(device(), element_bytes(), shape_, size);
  }

  transpose_in_place_shape shape_;
};

std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  return std::make_unique<in_place_problem>(size, type.bytes);
}

std::vector<rung> rungs(const device& on) {
  std::vector<rung> list = moving_rungs(on, "transpose-in-place", "twill::transpose_in_place, with fast scratch");
  rung least = list.front();
  least.name = least_name;
  least.lesson = "twill::transpose_in_place, with the least scratch: a row at most";
  list.insert(list.begin(), least);
  return list;
}

}  // namespace

const ladder_operation& transpose_in_place_operation() {
  static const ladder_operation operation = {"transpose-in-place", "4096x4096", rungs, moving_blocks, make_problem};
  return operation;
}

}  // namespace twill::tool
