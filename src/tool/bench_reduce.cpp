// Sums, and other reductions, of an array, of the rows of a matrix, or of its columns.

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

/// An operation beside the sum, as a rung of its own.
struct named_operation {
  std::string_view name;
  reduce_op op;
};
constexpr named_operation other_operations[] = {{"product", reduce_op::product},
                                                {"min", reduce_op::min},
                                                {"argmin", reduce_op::argmin},
                                                {"logical-and", reduce_op::logical_and},
                                                {"bitwise-xor", reduce_op::bitwise_xor}};

std::optional<reduce_op> other_operation(std::string_view name) {
  for (const auto& each : other_operations) {
    if (each.name == name) return each.op;
  }
  return std::nullopt;
}

bool is_other_operation(std::string_view name) {
  return other_operation(name).has_value();
}

/// Folds the number at `index` of a row or column into the result of those before it; unsigned ones of 64 bits are
/// compared as such. Of products and exclusive ors the last bits are those of any size.
struct folded_numbers {
  std::uint64_t value = 0, least = 0;

  void add(reduce_op op, std::uint64_t number, std::uint64_t index, bool is_unsigned) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const std::uint64_t key = number ^ (is_unsigned ? 0 : sign);
    const bool is_least = index == 0 || key < least;
    if (is_least) least = key;
    switch (op) {
      case reduce_op::product:
        value = index == 0 ? number : value * number;
        break;
      case reduce_op::min:
        if (is_least) value = number;
        break;
      case reduce_op::argmin:
        if (is_least) value = index;
        break;
      case reduce_op::logical_and:
        value = (index == 0 || value != 0) && number != 0 ? 1 : 0;
        break;
      case reduce_op::bitwise_xor:
        value ^= number;
        break;
      default:
        value += number;
    }
  }
};

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
      run_operation(stream, in, out, options.repeats, reduce_op::sum);
    } else if (const auto op = other_operation(which.name)) {
      if (!is_integer()) leave_out("operations beside the sum are checked for integers alone", "--type u8 to i64");
      run_operation(stream, in, out, options.repeats, *op);
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
    const reduce_op op = other_operation(which.name).value_or(reduce_op::sum);
    std::vector<std::int64_t>& results = expected_[op];
    if (results.empty()) results = expected_results(op);
    const twill::element_type kind = result_kind(op);
    const auto bytes = static_cast<std::size_t>(element_bytes(kind));
    std::vector<unsigned char> expected(results.size() * bytes), found(expected.size());
    store_numbers(expected.data(), results.data(), sums(), kind);
    download_bytes(stream, out, found.data(), found.size());
    stream.wait();
    const auto differs = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    if (differs == found.end()) return "";
    const auto at = static_cast<std::size_t>(differs - found.begin()) / bytes;
    return fmt::format("{} {} is not {}", op == reduce_op::sum ? "sum" : which.name, at, results[at]);
  }

 private:
  std::int64_t ld() const { return cols_ + gap_; }
  std::int64_t sums() const { return what_ == summed::columns ? cols_ : rows_; }
  /// Of the results: elements, or indices of 8 bytes.
  std::size_t sums_bytes() const {
    return static_cast<std::size_t>(sums() * std::max<std::int64_t>(8, type_.bytes) + 255) / 256 * 256;
  }
  bool is_integer() const { return type_.kind <= twill::element_type::i64 || is_unsigned(); }
  bool is_unsigned() const { return type_.kind >= twill::element_type::u8 && type_.kind <= twill::element_type::u64; }
  twill::element_type result_kind(reduce_op op) const {
    return op == reduce_op::argmin        ? twill::element_type::i64
           : op == reduce_op::logical_and ? twill::element_type::u8
                                          : type_.kind;
  }
  std::size_t scratch_bytes() const { return in_bytes() / 32 + (std::size_t{1} << 16) + (std::size_t{8} << 20); }
  void* scratch(stream_ref stream) const { return rung_scratch_.on(stream, scratch_bytes()); }

  /// As an application calls it: with scratch made once.
  void run_operation(stream_ref stream, const void* in, void* out, int repeats, reduce_op op) const {
    auto& scratch = scratches_[{stream.on().properties().name, op}];
    const reduce_options options{op, true};
    const twill::element_type result = result_kind(op);
    const reduce_shape shape{rows_, cols_, ld()};
    if (scratch.data() == nullptr) {
      const auto& on = stream.on();
      scratch =
          raw_buffer(on, what_ == summed::columns ? reduce_columns_scratch_bytes(on, type_.kind, result, shape, options)
                                                  : reduce_rows_scratch_bytes(on, type_.kind, result, shape, options));
      fill_bytes(stream, scratch.data(), 0, scratch.size_bytes());
    }
    const auto reduced = what_ == summed::columns ? reduce_columns_untyped : reduce_rows_untyped;
    for (int i = 0; i < repeats; ++i) {
      if (what_ == summed::array) {
        reduce_untyped(stream, in, out, type_.kind, result, cols_, scratch, options);
      } else {
        reduced(stream, in, out, type_.kind, result, shape, scratch, options);
      }
    }
  }

  std::vector<std::int64_t> expected_results(reduce_op op) const {
    constexpr std::int64_t chunk = 1 << 16;
    std::vector<folded_numbers> found(static_cast<std::size_t>(sums()));
    std::vector<std::int64_t> numbers(chunk);
    std::vector<unsigned char> elements(static_cast<std::size_t>(chunk * type_.bytes));
    for (std::int64_t first = 0; first < rows_ * ld(); first += chunk) {
      const std::int64_t part = std::min(chunk, rows_ * ld() - first);
      write_data(elements.data(), static_cast<std::uint64_t>(first * type_.bytes), elements.size(), type_.kind);
      read_numbers(elements.data(), part, type_.kind, numbers.data());
      for (std::int64_t i = 0; i < part; ++i) {
        const std::int64_t row = (first + i) / ld(), col = (first + i) % ld();
        if (col >= cols_) continue;  // a gap
        const bool by_column = what_ == summed::columns;
        found[static_cast<std::size_t>(by_column ? col : row)].add(
            op, static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(i)]),
            static_cast<std::uint64_t>(by_column ? row : col), is_unsigned());
      }
    }
    std::vector<std::int64_t> results;
    for (const folded_numbers& each : found) results.push_back(static_cast<std::int64_t>(each.value));
    return results;
  }

  summed what_;
  std::int64_t rows_, cols_, gap_;
  element_type type_;
  mutable std::map<reduce_op, std::vector<std::int64_t>> expected_;            // once it was asked for
  mutable std::map<std::pair<std::string, reduce_op>, raw_buffer> scratches_;  // by device
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

/// The ladder of reduce, and other operations.
std::vector<rung> array_rungs(const device& on) {
  std::vector<rung> rungs = reduce_rungs(on);
  for (const auto& each : other_operations) {
    rungs.push_back(
        {"reduce", each.name, "another operation than the sum", "this library", rung_promise::result, {}, false});
  }
  return rungs;
}

/// Of these what matrices have too: the operations, and what memory allows.
std::vector<rung> matrix_rungs(const device& on) {
  std::vector<rung> kept;
  for (const rung& each : array_rungs(on)) {
    if (each.promise == rung_promise::nothing || is_tuned(each) || other_operation(each.name)) kept.push_back(each);
  }
  return kept;
}

/// Only the size of a type decides which blocks fit.
std::vector<block_shape> reduce_blocks(const device& on, std::string_view name, std::int64_t bytes) {
  if (other_operation(name)) return {};
  return reduce_rung_blocks(on, name, bytes == 8 ? twill::element_type::f64 : twill::element_type::f32);
}

}  // namespace

const ladder_operation& reduce_operation() {
  static const ladder_operation operation = {"reduce", "4194304", array_rungs, reduce_blocks, make_array,
                                             "read",   "f32",     false,       false,         is_other_operation};
  return operation;
}
const ladder_operation& reduce_rows_operation() {
  static const ladder_operation operation = {
      "reduce-rows", "8192x8192", matrix_rungs, reduce_blocks, make_matrix<summed::rows>,
      "read",        "f32",       false,        true,          is_other_operation};
  return operation;
}
const ladder_operation& reduce_columns_operation() {
  static const ladder_operation operation = {
      "reduce-columns", "8192x8192", matrix_rungs, reduce_blocks, make_matrix<summed::columns>,
      "read",           "f32",       false,        true,          is_other_operation};
  return operation;
}

}  // namespace twill::tool
