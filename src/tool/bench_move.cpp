// Copies of rows, and permutations of dimensions.

#include <algorithm>
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

class permute_problem : public moving_problem {
 public:
  permute_problem(const extents& size, const extents& order, std::int64_t element_bytes)
      : moving_problem(size, element_bytes), order_(order) {}

  std::string text() const override { return extents_text(size()) + " to " + order_text(order_); }
  extents order() const override { return order_; }
  std::vector<candidate> candidates(const device& on) const override {
    return explain_permute(on, element_bytes(), form());
  }
  std::chrono::nanoseconds planning_time(const device& on) const override {
    return twill::planning_time(on, element_bytes(), form());
  }

 protected:
  void move(stream_ref stream, const rung& which, const void* in, void* out) const override {
    const permute_shape shape = form();
    if (is_candidate(which)) {
      permute_bytes_with(stream, std::string(which.name), in, out, element_bytes(), shape);
    } else if (which.name == "tuned" || which.name == "cpu-tuned") {
      permute_bytes(stream, in, out, element_bytes(), shape);
    } else {
      permute_rung(stream, which.name, in, out, element_bytes(), shape);
    }
  }

  moved_elements moved() const override {
    extents strides(size().size(), element_bytes());
    for (std::size_t i = strides.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * size()[i];
    moved_elements all{element_bytes(), {}, {}};
    std::int64_t out_stride = elements_bytes();
    for (const std::int64_t d : order_) {
      const auto place = static_cast<std::size_t>(d);
      out_stride /= size()[place];
      all.dims.push_back({size()[place], strides[place], out_stride});
    }
    return all;
  }

  std::int64_t elements_bytes() const override {
    return std::accumulate(size().begin(), size().end(), element_bytes(), std::multiplies<>());
  }

 private:
  permute_shape form() const { return {{size().data(), size().size()}, {order_.data(), order_.size()}, {}, {}}; }

  extents order_;
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
  return std::make_unique<permute_problem>(size, order, which.type.bytes);
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
