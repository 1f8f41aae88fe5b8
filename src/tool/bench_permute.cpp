#include <numeric>

#include <fmt/core.h>

#include <twill/permute.hpp>

#include "format.hpp"
#include "moving_problem.hpp"
#include "refuse.hpp"

namespace twill::tool {
namespace {

class permute_problem : public moving_problem {
 public:
  permute_problem(const extents& size, const extents& order, std::int64_t element_bytes)
      : moving_problem(size), order_(order), element_bytes_(element_bytes) {}

  std::string text() const override { return extents_text(size()) + " to " + order_text(order_); }
  extents order() const override { return order_; }

 protected:
  void move(stream_ref stream, const void* in, void* out) const override {
    permute_bytes(stream, in, out, element_bytes_,
                  {{size().data(), size().size()}, {order_.data(), order_.size()}, {}, {}});
  }

  moved_elements moved() const override {
    extents strides(size().size(), element_bytes_);
    for (std::size_t i = strides.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * size()[i];
    moved_elements all{element_bytes_, 0, {}};
    std::int64_t out_stride = elements_bytes();
    for (const std::int64_t d : order_) {
      const auto place = static_cast<std::size_t>(d);
      out_stride /= size()[place];
      all.dims.push_back({size()[place], strides[place], out_stride});
    }
    return all;
  }

  std::int64_t elements_bytes() const override {
    return std::accumulate(size().begin(), size().end(), element_bytes_, std::multiplies<>());
  }

 private:
  extents order_;
  std::int64_t element_bytes_;
};

std::unique_ptr<ladder_problem> make_ordered(const extents& size, const element_type& type, const extents& order) {
  if (size.size() > dims::capacity) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "a permutation has at most 8",
           "fuse some that lie one after another");
  }
  extents sorted(order.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  if (order.size() != size.size() || !std::is_permutation(order.begin(), order.end(), sorted.begin())) {
    refuse(
        fmt::format("order {} is none of the {} dimensions of {}", order_text(order), size.size(), extents_text(size)),
        fmt::format("each of 0 to {} belongs into it once", size.size() - 1), "write for example --order 2,0,1");
  }
  extents factors = size;
  factors.insert(factors.end(), {type.bytes, 2});
  checked_product(factors, fmt::format("size {}", extents_text(size)));
  return std::make_unique<permute_problem>(size, order, type.bytes);
}

/// Without an order: all dimensions the other way round.
std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  extents order(size.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return make_ordered(size, type, order);
}

std::vector<rung> rungs(const device& on) {
  return moving_rungs(on, "permute", "twill::permute: tiles, and runs of what stays together");
}

}  // namespace

const ladder_operation& permute_operation() {
  static const ladder_operation operation = {"permute",    "64x96x64x128", rungs,       moving_blocks,
                                             make_problem, "memcpy",       make_ordered};
  return operation;
}

}  // namespace twill::tool
