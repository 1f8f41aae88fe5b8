// Copies of rows, and permutations of dimensions.

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <fmt/core.h>

#include <twill/copy.hpp>
#include <twill/ladder/permute.hpp>
#include <twill/permute.hpp>

#include "candidates.hpp"
#include "moved.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// Rows of both sides have a pitch of `pitch` elements.
class copy_problem : public moving_problem {
 public:
  copy_problem(const extents& size, std::int64_t element_bytes)
      : moving_problem(size, element_bytes),
        rows_(size.size() == 1 ? 1 : size[0]),
        cols_(size.size() == 1 ? size[0] : size[1]),
        pitch_(size.size() == 3 ? size[2] : cols_) {}

  std::int64_t cols() const override { return cols_; }
  std::size_t in_bytes() const override { return span(); }
  std::size_t out_bytes() const override { return span(); }

 protected:
  void move(stream_ref stream, const rung&, const void* in, void* out) const override {
    copy_bytes(stream, in, out, element_bytes(), {rows_, cols_, pitch_, pitch_});
  }
  moved_elements moved() const override {
    const std::int64_t row = pitch_ * element_bytes();
    return {element_bytes(), {{rows_, row, row}, {cols_, element_bytes(), element_bytes()}}, {}};
  }
  std::int64_t elements_bytes() const override { return rows_ * cols_ * element_bytes(); }

 private:
  std::size_t span() const { return static_cast<std::size_t>(((rows_ - 1) * pitch_ + cols_) * element_bytes()); }

  std::int64_t rows_, cols_, pitch_;
};

std::unique_ptr<ladder_problem> make_copy(const bench_case& which) {
  const extents& size = which.size;
  if (size.size() > 3) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "a copy has at most three",
           "write --size LENGTH, ROWSxCOLS or ROWSxCOLSxPITCH");
  }
  if (size.size() == 3 && size[2] < size[1]) {
    refuse(fmt::format("size {} has a pitch of {}", extents_text(size), size[2]),
           fmt::format("a row has {} elements", size[1]), "give a pitch of at least that");
  }
  checked_product({size.front(), size.size() == 1 ? 1 : size.back(), which.type.bytes, 2},
                  fmt::format("size {}", extents_text(size)));
  return std::make_unique<copy_problem>(size, which.type.bytes);
}

std::vector<rung> copy_rungs(const device& on) {
  return moving_rungs(on, "copy", "twill::copy: rows in aligned pieces of 16 bytes");
}

/// Elements of one side of a permutation: strides in bytes, and where the memory that they take begins and ends from
/// the element of index 0 on.
struct strided_side {
  extents strides;
  std::int64_t low = 0, high = 0;

  strided_side(const extents& size, const extents& given, std::int64_t element_bytes, const std::string& side)
      : strides(size.size(), element_bytes), high(element_bytes) {
    if (!given.empty() && given.size() != size.size()) {
      refuse(fmt::format("{} {} do not fit {} extents", side, order_text(given), size.size()),
             "each dimension has one stride", "give as many as there are extents");
    }
    for (std::size_t i = size.size(); i-- > 0;) {
      if (!given.empty()) {
        checked_product({std::abs(given[i]), size[i], element_bytes, 16}, side + " " + order_text(given),
                        "give smaller strides");
        strides[i] = given[i] * element_bytes;
      } else if (i + 1 < size.size()) {
        strides[i] = strides[i + 1] * size[i + 1];
      }
      (strides[i] < 0 ? low : high) += (size[i] - 1) * strides[i];
    }
  }
  std::int64_t bytes() const { return high - low; }
};

extents permuted(const extents& size, const extents& order) {
  extents all;
  for (const std::int64_t d : order) all.push_back(size[static_cast<std::size_t>(d)]);
  return all;
}

class permute_problem : public moving_problem {
 public:
  permute_problem(const bench_case& which, const extents& order)
      : moving_problem(which.size, which.type.bytes),
        order_(order),
        in_strides_(which.in_strides),
        out_strides_(which.out_strides),
        in_(which.size, which.in_strides, which.type.bytes, "in strides"),
        out_(permuted(which.size, order), which.out_strides, which.type.bytes, "out strides") {
    std::int64_t inner = 0;  // bytes from the first byte of the inner dimensions to their last element
    const std::vector<moved_dim> dims = in_memory_order().dims;
    for (std::size_t i = dims.size(); i-- > 0;) {
      if (dims[i].extent == 1) continue;
      if (dims[i].out_stride < inner + element_bytes()) {
        refuse(fmt::format("out strides {} interleave or overlap dimensions", order_text(out_strides_)),
               "this command has none of these", "give each at least the span of the dimensions inside it");
      }
      inner += (dims[i].extent - 1) * dims[i].out_stride;
    }
  }

  std::string text() const override {
    return extents_text(size()) + permutation_text(order_, in_strides_, out_strides_);
  }
  extents order() const override { return order_; }
  extents in_strides() const override { return in_strides_; }
  extents out_strides() const override { return out_strides_; }
  /// Input strides may overlap: `memcpy` takes as much as there are elements.
  std::size_t in_bytes() const override { return static_cast<std::size_t>(std::max(in_.bytes(), elements_bytes())); }
  std::size_t out_bytes() const override { return static_cast<std::size_t>(out_.bytes()); }
  std::vector<candidate> candidates(const device& on) const override {
    return explain_permute(on, element_bytes(), form());
  }
  std::chrono::nanoseconds planning_time(const device& on) const override {
    return twill::planning_time(on, element_bytes(), form());
  }

 protected:
  void move(stream_ref stream, const rung& which, const void* first_in, void* first_out) const override {
    const permute_shape shape = form();
    const auto* in = static_cast<const unsigned char*>(first_in) - in_.low;
    auto* out = static_cast<unsigned char*>(first_out) - out_.low;
    if (is_candidate(which)) {
      permute_bytes_with(stream, std::string(which.name), in, out, element_bytes(), shape);
    } else if (which.name == "tuned" || which.name == "cpu-tuned") {
      permute_bytes(stream, in, out, element_bytes(), shape);
    } else {
      permute_rung(stream, which.name, in, out, element_bytes(), shape);
    }
  }

  moved_elements moved() const override { return in_memory_order(); }

  std::int64_t elements_bytes() const override {
    return std::accumulate(size().begin(), size().end(), element_bytes(), std::multiplies<>());
  }

 private:
  /// Dimensions that the output has in reverse are walked from their other end.
  moved_elements in_memory_order() const {
    moved_elements all{element_bytes(), {}, {}, -in_.low};
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto place = static_cast<std::size_t>(order_[i]);
      moved_dim dim{size()[place], in_.strides[place], out_.strides[i]};
      if (dim.out_stride < 0) {
        all.in_first += (dim.extent - 1) * dim.in_stride;
        dim = {dim.extent, -dim.in_stride, -dim.out_stride};
      }
      all.dims.push_back(dim);
    }
    std::stable_sort(all.dims.begin(), all.dims.end(),
                     [](const moved_dim& a, const moved_dim& b) { return a.out_stride > b.out_stride; });
    return all;
  }

  permute_shape form() const {
    return {{size().data(), size().size()},
            {order_.data(), order_.size()},
            {in_strides_.data(), in_strides_.size()},
            {out_strides_.data(), out_strides_.size()}};
  }

  extents order_, in_strides_, out_strides_;
  strided_side in_, out_;
};

/// Without an order: all dimensions in reverse.
std::unique_ptr<ladder_problem> make_permute(const bench_case& which) {
  const extents& size = which.size;
  extents order = which.order;
  if (order.empty()) {
    order.resize(size.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  if (size.size() > dims::capacity) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "a permutation has at most 8",
           "fuse some that lie one after another");
  }
  extents sorted(order.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  if (order.size() != size.size() || !std::is_permutation(order.begin(), order.end(), sorted.begin())) {
    refuse(fmt::format("order {} is not a permutation of the {} dimensions of {}", order_text(order), size.size(),
                       extents_text(size)),
           fmt::format("each of 0 to {} must stand in it once", size.size() - 1),
           "give all of them, in the order of the output");
  }
  extents factors = size;
  factors.insert(factors.end(), {which.type.bytes, 2});
  checked_product(factors, fmt::format("size {}", extents_text(size)));
  return std::make_unique<permute_problem>(which, order);
}

std::vector<rung> all_permute_rungs(const device& on) {
  std::vector<rung> all = moving_rungs(on, "permute", "twill::permute: tiles, and runs of what stays together");
  for (const rung& each : permute_rungs(on)) all.push_back(each);
  return all;
}

}  // namespace

const ladder_operation& permute_operation() {
  static const ladder_operation operation = {
      "permute", "64x96x64x128", all_permute_rungs, moving_blocks, make_permute, "memcpy", "f32", true};
  return operation;
}

const ladder_operation& copy_operation() {
  static const ladder_operation operation = {"copy", "4096x4095x4097", copy_rungs, moving_blocks, make_copy};
  return operation;
}

}  // namespace twill::tool
