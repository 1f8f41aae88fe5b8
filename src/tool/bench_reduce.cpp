// Sums of an array, of the rows of a matrix, or of its columns.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/ladder/reduce.hpp>
#include <twill/reduce.hpp>

#include "problem.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

enum class summed { array, rows, columns };

bool is_tuned(const rung& which) {
  return which.name == "tuned" || which.name == "cpu-tuned";
}

/// Whether all rungs of the ladder sum a type, not only the operation itself.
bool rungs_sum(twill::element_type type) {
  using kind = twill::element_type;
  const kind known[] = {kind::i32, kind::u32, kind::i64, kind::u64, kind::f32, kind::f64};
  return std::find(std::begin(known), std::end(known), type) != std::end(known);
}

/// The output begins with the sums; what `memcpy` copies to follows. An array is one row.
class reduce_problem : public ladder_problem {
 public:
  reduce_problem(summed what, std::int64_t rows, std::int64_t cols, std::int64_t gap, const element_type& type)
      : what_(what), rows_(rows), cols_(cols), gap_(gap), type_(type) {}

  std::string text() const override {
    return what_ == summed::array ? extents_text({cols_}) : extents_text({rows_, cols_});
  }
  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t gap() const override { return gap_; }
  std::size_t in_bytes() const override { return static_cast<std::size_t>(rows_ * ld() * type_.bytes); }
  std::size_t out_bytes() const override { return sums_bytes() + in_bytes(); }
  double moved_bytes() const override { return static_cast<double>(rows_ * cols_ * type_.bytes); }
  double moved_bytes_of(const rung& which) const override {
    return which.name == "memcpy" ? 2.0 * moved_bytes() : moved_bytes();
  }
  std::size_t touched_bytes() const override { return in_bytes(); }

  twill::element_type data_kind() const override { return type_.kind; }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    const auto words = static_cast<std::int64_t>(moved_bytes() / 4);  // without gaps
    if (is_tuned(which)) {
      run_operation(stream, in, out, options.repeats);
    } else if (which.name == "memcpy") {  // bytes are bytes
      void* to = static_cast<unsigned char*>(out) + sums_bytes();
      reduce_rung(stream, which.name, in, out, twill::element_type::u32, words, {to, in_bytes()}, options);
    } else if (which.promise == rung_promise::nothing) {
      reduce_rung(stream, which.name, in, out, twill::element_type::u32, words, {scratch(stream), scratch_bytes()},
                  options);
    } else if (rungs_sum(type_.kind)) {
      reduce_rung(stream, which.name, in, out, type_.kind, cols_, {scratch(stream), scratch_bytes()}, options);
    } else {
      leave_out("the ladder's own rungs cannot sum " + type_.name, "they sum i32, u32, i64, u64, f32, f64");
    }
  }

  std::string fault(stream_ref stream, const rung& which, block_shape, const void* out) const override {
    if (which.promise != rung_promise::result) return "";
    if (expected_.empty()) expected_ = expected_sums();
    const auto bytes = static_cast<std::size_t>(type_.bytes);
    std::vector<unsigned char> expected(expected_.size() * bytes), found(expected.size());
    store_numbers(expected.data(), expected_.data(), sums(), type_.kind);
    download_bytes(stream, out, found.data(), found.size());
    stream.wait();
    const auto differs = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    if (differs == found.end()) return "";
    const auto at = static_cast<std::size_t>(differs - found.begin()) / bytes;
    return fmt::format("sum {} is not {}", at, expected_[at]);
  }

 private:
  std::int64_t ld() const { return cols_ + gap_; }
  std::int64_t sums() const { return what_ == summed::columns ? cols_ : rows_; }
  std::size_t sums_bytes() const { return static_cast<std::size_t>(sums() * type_.bytes + 255) / 256 * 256; }
  std::size_t scratch_bytes() const { return in_bytes() / 32 + (std::size_t{1} << 16) + (std::size_t{8} << 20); }
  void* scratch(stream_ref stream) const { return rung_scratch_.on(stream, scratch_bytes()); }

  /// As an application calls it: with scratch made once.
  void run_operation(stream_ref stream, const void* in, void* out, int repeats) const {
    auto& scratch = scratches_[stream.on().properties().name];
    const reduce_options options{reduce_op::sum, true};
    const reduce_shape shape{rows_, cols_, ld()};
    if (scratch.data() == nullptr) {
      const auto& on = stream.on();
      scratch = raw_buffer(on, what_ == summed::columns
                                   ? reduce_columns_scratch_bytes(on, type_.kind, type_.kind, shape, options)
                                   : reduce_rows_scratch_bytes(on, type_.kind, type_.kind, shape, options));
      fill_bytes(stream, scratch.data(), 0, scratch.size_bytes());
    }
    const auto sum = what_ == summed::columns ? reduce_columns_untyped : reduce_rows_untyped;
    for (int i = 0; i < repeats; ++i) {
      if (what_ == summed::array) {
        reduce_untyped(stream, in, out, type_.kind, type_.kind, cols_, scratch, options);
      } else {
        sum(stream, in, out, type_.kind, type_.kind, shape, scratch, options);
      }
    }
  }

  std::vector<std::int64_t> expected_sums() const {
    constexpr std::int64_t chunk = 1 << 16;
    std::vector<std::int64_t> found(static_cast<std::size_t>(sums())), numbers(chunk);
    std::vector<unsigned char> elements(static_cast<std::size_t>(chunk * type_.bytes));
    for (std::int64_t first = 0; first < rows_ * ld(); first += chunk) {
      const std::int64_t part = std::min(chunk, rows_ * ld() - first);
      write_data(elements.data(), static_cast<std::uint64_t>(first * type_.bytes), elements.size(), type_.kind);
      read_numbers(elements.data(), part, type_.kind, numbers.data());
      for (std::int64_t i = 0; i < part; ++i) {
        const std::int64_t row = (first + i) / ld(), col = (first + i) % ld();
        if (col >= cols_) continue;  // a gap
        const std::int64_t at = what_ == summed::columns ? col : row;
        auto& sum = found[static_cast<std::size_t>(at)];
        const auto own = static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(i)]);
        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + own);
      }
    }
    return found;
  }

  summed what_;
  std::int64_t rows_, cols_, gap_;
  element_type type_;
  mutable std::vector<std::int64_t> expected_;           // once it was asked for
  mutable std::map<std::string, raw_buffer> scratches_;  // by device
  mutable shared_scratch rung_scratch_;
};

std::unique_ptr<ladder_problem> make_array(const bench_case& which) {
  const extents& size = which.size;
  if (size.size() != 1) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()), "the ladder of reduce sums an array",
           "write --size COUNT, for example --size 2^22");
  }
  require_number("reduce", which.type);
  checked_product({size.front(), which.type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<reduce_problem>(summed::array, 1, size.front(), 0, which.type);
}

/// {N} is N x N, as of a transpose.
template <summed What>
std::unique_ptr<ladder_problem> make_matrix(const bench_case& which) {
  const std::string name = What == summed::rows ? "reduce-rows" : "reduce-columns";
  const extents& size = which.size;
  if (size.size() > 2) {
    refuse(fmt::format("size {} is no matrix", extents_text(size)), name + " sums rows or columns",
           "write --size ROWSxCOLS, for example --size 8192x8192, or N for a square");
  }
  require_number(name, which.type);
  checked_product({size.front(), size.back() + which.gap, which.type.bytes, 2},
                  fmt::format("size {}", extents_text(size)));
  return std::make_unique<reduce_problem>(What, size.front(), size.back(), which.gap, which.type);
}

/// Of the ladder of reduce what matrices have too: the operation, and what memory allows.
std::vector<rung> matrix_rungs(const device& on) {
  std::vector<rung> kept;
  for (const rung& each : reduce_rungs(on)) {
    if (each.promise == rung_promise::nothing || is_tuned(each)) kept.push_back(each);
  }
  return kept;
}

/// Only the size of a type decides which blocks fit.
std::vector<block_shape> reduce_blocks(const device& on, std::string_view name, std::int64_t bytes) {
  return reduce_rung_blocks(on, name, bytes == 8 ? twill::element_type::f64 : twill::element_type::f32);
}

}  // namespace

const ladder_operation& reduce_operation() {
  static const ladder_operation operation = {"reduce", "4194304", reduce_rungs, reduce_blocks, make_array, "read"};
  return operation;
}
const ladder_operation& reduce_rows_operation() {
  static const ladder_operation operation = {
      "reduce-rows", "8192x8192", matrix_rungs, reduce_blocks, make_matrix<summed::rows>, "read", "f32", false, true};
  return operation;
}
const ladder_operation& reduce_columns_operation() {
  static const ladder_operation operation = {
      "reduce-columns", "8192x8192", matrix_rungs, reduce_blocks, make_matrix<summed::columns>,
      "read",           "f32",       false,        true};
  return operation;
}

}  // namespace twill::tool
