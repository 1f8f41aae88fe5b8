#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/ladder/reduce.hpp>
#include <twill/reduce.hpp>

#include "format.hpp"
#include "ladder_problem.hpp"
#include "numbers.hpp"
#include "refuse.hpp"

namespace twill::tool {
namespace {

bool rungs_sum(twill::element_type type) {
  using kind = twill::element_type;
  const kind known[] = {kind::i32, kind::u32, kind::i64, kind::u64, kind::f32, kind::f64};
  return std::find(std::begin(known), std::end(known), type) != std::end(known);
}

/// The output begins with the result; scratch follows, as large as the input for `memcpy`.
constexpr std::size_t result_bytes = 256;

class reduce_problem : public ladder_problem {
 public:
  reduce_problem(std::int64_t count, const element_type& type)
      : count_(count), type_(type), sum_(sum_of_numbers(count, type.kind)) {}

  std::string text() const override { return extents_text({count_}); }
  std::int64_t rows() const override { return 1; }
  std::int64_t cols() const override { return count_; }
  std::size_t in_bytes() const override { return static_cast<std::size_t>(count_ * type_.bytes); }
  std::size_t out_bytes() const override { return result_bytes + scratch_bytes(); }
  double moved_bytes() const override { return static_cast<double>(in_bytes()); }
  double moved_bytes_of(const rung& which) const override {
    return which.name == "memcpy" ? 2.0 * moved_bytes() : moved_bytes();
  }
  std::size_t touched_bytes() const override { return in_bytes(); }

  void write_input(void* to, std::uint64_t first, std::size_t bytes) const override {
    write_numbers(to, first, bytes, type_.kind);
  }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    if (which.name == "tuned" || which.name == "cpu-tuned") return run_tuned(stream, in, out, options.repeats);
    void* scratch = static_cast<unsigned char*>(out) + result_bytes;
    if (rungs_sum(type_.kind)) {
      reduce_rung(stream, which.name, in, out, type_.kind, count_, scratch, scratch_bytes(), options);
    } else if (which.promise == rung_promise::nothing) {  // bytes are bytes
      reduce_rung(stream, which.name, in, out, twill::element_type::u32, count_ * type_.bytes / 4, scratch,
                  scratch_bytes(), options);
    } else {
      leave_out("the ladder's own rungs cannot sum " + type_.name, "they sum i32, u32, i64, u64, f32, f64");
    }
  }

  std::string fault(stream_ref stream, const rung& which, block_shape, const void* out) const override {
    if (which.promise != rung_promise::result) return "";
    unsigned char found[16] = {}, expected[16] = {};
    store_numbers(expected, &sum_, 1, type_.kind);
    download_bytes(stream, found, out, static_cast<std::size_t>(type_.bytes));
    stream.wait();
    if (std::memcmp(found, expected, static_cast<std::size_t>(type_.bytes)) == 0) return "";
    return fmt::format("the sum is not {}", sum_);
  }

 private:
  std::size_t scratch_bytes() const {
    return std::max(in_bytes(), in_bytes() / 32 + (std::size_t{1} << 16) + reduce_scratch_bytes);
  }

  /// The operation as an application calls it: with scratch made once. The rung prepares its own each time.
  void run_tuned(stream_ref stream, const void* in, void* out, int repeats) const {
    auto& scratch = scratches_[stream.on().properties().name];
    if (!scratch) scratch.emplace(stream);
    for (int i = 0; i < repeats; ++i) {
      reduce_bytes(stream, reduce_op::sum, in, type_.kind, out, type_.kind, count_, *scratch);
    }
  }

  std::int64_t count_;
  element_type type_;
  std::int64_t sum_;
  mutable std::map<std::string, std::optional<reduce_scratch>> scratches_;  // by device
};

std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  if (size.size() != 1) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "the ladder of reduce sums an array",
           "write --size COUNT, for example --size 2^22");
  }
  require_number("reduce", type);
  checked_product({size.front(), type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<reduce_problem>(size.front(), type);
}

/// Only the size of a type decides which blocks fit.
std::vector<block_shape> blocks(const device& on, std::string_view name, std::int64_t bytes) {
  return reduce_rung_blocks(on, name, bytes == 8 ? twill::element_type::f64 : twill::element_type::f32);
}

}  // namespace

const ladder_operation& reduce_operation() {
  static const ladder_operation operation = {"reduce", "4194304", reduce_rungs, blocks, make_problem, "read"};
  return operation;
}

}  // namespace twill::tool
