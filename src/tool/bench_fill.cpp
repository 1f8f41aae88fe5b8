// Every element set to one value.

#include <array>

#include <fmt/core.h>

#include <twill/fill.hpp>

#include "moved.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

constexpr std::string_view memset_name = "memset";

/// The value is the first element of the input: its bytes differ, so that those of more than one take a kernel.
class fill_problem : public moving_problem {
 public:
  fill_problem(const extents& size, std::int64_t element_bytes) : moving_problem(size, element_bytes) {
    write_data(value_.data(), 0, value_.size(), twill::element_type::u8);
  }

  extents all_extents() const override { return {}; }
  double moved_bytes() const override { return static_cast<double>(out_bytes()); }
  double moved_bytes_of(const rung& which) const override {
    return which.promise == rung_promise::copy ? 2.0 * moved_bytes() : moved_bytes();
  }
  std::size_t touched_bytes() const override { return out_bytes(); }

 protected:
  void move(stream_ref stream, const rung& which, const void*, void* out) const override {
    if (which.name == memset_name) {
      fill_bytes(stream, out, value_.front(), out_bytes());
    } else {
      fill_bytes(stream, out, value_.data(), element_bytes(), size().front());
    }
  }

  moved_elements moved() const override { return {element_bytes(), {{size().front(), 0, element_bytes()}}, {}}; }

  moved_elements expected_of(const rung& which, block_shape block) const override {
    if (which.name != memset_name) return moving_problem::expected_of(which, block);
    return {1, {{elements_bytes(), 0, 1}}, {}};
  }

  std::int64_t elements_bytes() const override { return size().front() * element_bytes(); }

 private:
  std::array<unsigned char, 64> value_ = {};
};

std::unique_ptr<ladder_problem> make_fill(const bench_case& which) {
  const extents& size = which.size;
  if (size.size() != 1) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "fill takes an array",
           "write --size COUNT, for example --size 2^22");
  }
  checked_product({size.front(), which.type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<fill_problem>(size, which.type.bytes);
}

std::vector<rung> fill_rungs(const device& on) {
  std::vector<rung> all = moving_rungs(on, "fill", "twill::fill: 16-byte stores of the repeated element");
  all.back().lesson = "the device's own copy, which moves twice the bytes of a fill";
  all.push_back({"fill",
                 memset_name,
                 "the device's own memset of the same bytes: the upper bound",
                 "the runtime",
                 rung_promise::nothing,
                 {},
                 false});
  return all;
}

}  // namespace

const ladder_operation& fill_operation() {
  static const ladder_operation operation = {"fill",        "2^26",    fill_rungs,
                                             moving_blocks, make_fill, std::string(memset_name)};
  return operation;
}

}  // namespace twill::tool
