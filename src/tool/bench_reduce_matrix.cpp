// Sums of the rows, or of the columns, of a matrix.

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

enum class direction { rows, columns };

/// The output begins with the sums; scratch follows, as large as the input for `memcpy`.
class reduce_matrix_problem : public ladder_problem {
 public:
  reduce_matrix_problem(direction over, const extents& size, const element_type& type)
      : over_(over), rows_(size[0]), cols_(size[1]), type_(type) {}

  std::string text() const override { return extents_text({rows_, cols_}); }
  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::size_t in_bytes() const override { return static_cast<std::size_t>(rows_ * cols_ * type_.bytes); }
  std::size_t out_bytes() const override { return sums_bytes() + scratch_bytes(); }
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
    if (which.promise == rung_promise::nothing) {  // bytes are bytes
      void* scratch = static_cast<unsigned char*>(out) + sums_bytes();
      return reduce_rung(stream, which.name, in, out, twill::element_type::u32,
                         static_cast<std::int64_t>(in_bytes() / 4), scratch, scratch_bytes(), options);
    }
    auto& scratch = scratches_[stream.on().properties().name];
    if (!scratch) scratch.emplace(stream);
    const auto sum = over_ == direction::rows ? &reduce_rows_bytes : &reduce_columns_bytes;
    for (int i = 0; i < options.repeats; ++i) {
      sum(stream, reduce_op::sum, in, type_.kind, out, type_.kind, {rows_, cols_}, *scratch);
    }
  }

  std::string fault(stream_ref stream, const rung& which, block_shape, const void* out) const override {
    if (which.promise != rung_promise::result) return "";
    const std::vector<std::int64_t> sums = expected_sums();
    const auto bytes = static_cast<std::size_t>(type_.bytes);
    std::vector<unsigned char> expected(sums.size() * bytes), found(expected.size());
    store_numbers(expected.data(), sums.data(), static_cast<std::int64_t>(sums.size()), type_.kind);
    download_bytes(stream, found.data(), out, found.size());
    stream.wait();
    const auto differs = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    if (differs == found.end()) return "";
    const auto at = static_cast<std::size_t>(differs - found.begin()) / bytes;
    return fmt::format("sum {} is not {}", at, sums[at]);
  }

 private:
  std::size_t sums_bytes() const {
    const std::int64_t sums = over_ == direction::rows ? rows_ : cols_;
    return static_cast<std::size_t>(sums * type_.bytes + 255) / 256 * 256;
  }
  std::size_t scratch_bytes() const {
    return std::max(in_bytes(), in_bytes() / 32 + (std::size_t{1} << 16) + reduce_scratch_bytes);
  }

  std::vector<std::int64_t> expected_sums() const {
    constexpr std::int64_t chunk = 1 << 16;
    std::vector<std::int64_t> sums(static_cast<std::size_t>(over_ == direction::rows ? rows_ : cols_)), numbers(chunk);
    std::vector<unsigned char> elements(static_cast<std::size_t>(chunk * type_.bytes));
    for (std::int64_t first = 0; first < rows_ * cols_; first += chunk) {
      const std::int64_t part = std::min(chunk, rows_ * cols_ - first);
      write_numbers(elements.data(), static_cast<std::uint64_t>(first * type_.bytes), elements.size(), type_.kind);
      read_numbers(elements.data(), part, type_.kind, numbers.data());
      for (std::int64_t i = 0; i < part; ++i) {
        auto& sum =
            sums[static_cast<std::size_t>(over_ == direction::rows ? (first + i) / cols_ : (first + i) % cols_)];
        const auto own = static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(i)]);
        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + own);
      }
    }
    return sums;
  }

  direction over_;
  std::int64_t rows_, cols_;
  element_type type_;
  mutable std::map<std::string, std::optional<reduce_scratch>> scratches_;  // by device
};

template <direction Over>
std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  const std::string name = Over == direction::rows ? "reduce-rows" : "reduce-columns";
  if (size.size() != 2) {
    refuse(fmt::format("size {} is no matrix", extents_text(size)), name + " sums rows or columns",
           "write --size ROWSxCOLS, for example --size 8192x8192");
  }
  require_number(name, type);
  checked_product({size[0], size[1], type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<reduce_matrix_problem>(Over, size, type);
}

/// Of the ladder of reduce: the public operation, and what memory allows.
std::vector<rung> rungs(const device& on) {
  std::vector<rung> kept;
  for (const rung& each : reduce_rungs(on)) {
    if (each.promise == rung_promise::nothing || each.name == "tuned" || each.name == "cpu-tuned") kept.push_back(each);
  }
  return kept;
}

std::vector<block_shape> no_blocks(const device&, std::string_view, std::int64_t) {
  return {};
}

}  // namespace

const ladder_operation& reduce_rows_operation() {
  static const ladder_operation operation = {
      "reduce-rows", "8192x8192", rungs, no_blocks, make_problem<direction::rows>, "read"};
  return operation;
}
const ladder_operation& reduce_columns_operation() {
  static const ladder_operation operation = {
      "reduce-columns", "8192x8192", rungs, no_blocks, make_problem<direction::columns>, "read"};
  return operation;
}

}  // namespace twill::tool
