// Exclusive sums of the rows of a matrix.

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/ladder/array.hpp>
#include <twill/scan.hpp>

#include "problem.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// The input's rows may have gaps between them; the output is packed.
class scan_rows_problem : public ladder_problem {
 public:
  explicit scan_rows_problem(const bench_case& which)
      : rows_(which.size.front()), cols_(which.size.back()), gap_(which.gap), type_(which.type) {}

  std::string text() const override {
    return extents_text({rows_, cols_}) + (gap_ > 0 ? fmt::format("+{}", gap_) : std::string());
  }
  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t gap() const override { return gap_; }
  std::size_t in_bytes() const override { return static_cast<std::size_t>(rows_ * in_ld() * type_.bytes); }
  std::size_t out_bytes() const override { return static_cast<std::size_t>(rows_ * cols_ * type_.bytes); }
  double moved_bytes() const override { return 2.0 * static_cast<double>(out_bytes()); }
  twill::element_type data_kind() const override { return type_.kind; }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    if (which.promise == rung_promise::copy) {
      for (int i = 0; i < options.repeats; ++i) copy_bytes(stream, in, out, out_bytes());
      return;
    }
    const scan_options sums{scan_op::sum, true};
    const std::size_t bytes = scan_scratch_bytes(stream.on(), type_.kind, shape(), sums);
    void* scratch = bytes > 0 ? scratch_.on(stream, bytes) : nullptr;
    for (int i = 0; i < options.repeats; ++i) {
      scan_untyped(stream, in, out, type_.kind, shape(), {scratch, bytes}, sums);
    }
  }

  std::string fault(stream_ref stream, const rung& which, block_shape, const void* out) const override {
    const std::int64_t at_once = std::max<std::int64_t>(1, (1 << 22) / cols_);  // rows
    for (std::int64_t first = 0; first < rows_; first += at_once) {
      const std::int64_t count = std::min(at_once, rows_ - first);
      const auto right =
          which.promise == rung_promise::copy ? copied(first * cols_, count * cols_) : sums(first, count);
      std::vector<unsigned char> found(right.size());
      download_bytes(stream, static_cast<const unsigned char*>(out) + first * cols_ * type_.bytes, found.data(),
                     found.size());
      stream.wait();
      const auto differs = std::mismatch(found.begin(), found.end(), right.begin()).first;
      if (differs == found.end()) continue;
      const std::int64_t at = (differs - found.begin()) / type_.bytes;
      return fmt::format("column {} of row {} differs", at % cols_, first + at / cols_);
    }
    return "";
  }

 private:
  std::int64_t in_ld() const { return cols_ + gap_; }
  scan_shape shape() const { return scan_shape{rows_, cols_}.with_in_ld(in_ld()); }

  /// Elements of the input.
  std::vector<unsigned char> copied(std::int64_t first, std::int64_t count) const {
    return data_from(static_cast<std::uint64_t>(first * type_.bytes), static_cast<std::size_t>(count * type_.bytes),
                     type_.kind);
  }

  /// No tolerance: integers of mean 0 (data.hpp), whose sums are exact in float.
  std::vector<unsigned char> sums(std::int64_t first, std::int64_t count) const {
    const std::vector<unsigned char> in = copied(first * in_ld(), count * in_ld());
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count * in_ld()));
    read_numbers(in.data(), count * in_ld(), type_.kind, numbers.data());
    std::vector<std::int64_t> found(static_cast<std::size_t>(count * cols_));
    for (std::int64_t row = 0; row < count; ++row) {
      std::uint64_t sum = 0;  // modulo 2^64
      for (std::int64_t col = 0; col < cols_; ++col) {
        found[static_cast<std::size_t>(row * cols_ + col)] = static_cast<std::int64_t>(sum);
        sum += static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(row * in_ld() + col)]);
      }
    }
    std::vector<unsigned char> right(found.size() * static_cast<std::size_t>(type_.bytes));
    store_numbers(right.data(), found.data(), static_cast<std::int64_t>(found.size()), type_.kind);
    return right;
  }

  std::int64_t rows_, cols_, gap_;
  element_type type_;
  mutable shared_scratch scratch_;
};

std::unique_ptr<ladder_problem> make_scan_rows(const bench_case& which) {
  const extents& size = which.size;
  if (size.size() > 2) {
    refuse(fmt::format("size {} is no matrix", extents_text(size)), "scan-rows sums along rows",
           "write --size ROWSxCOLS, for example --size 2^20x64, or N for a square");
  }
  require_number("scan-rows", which.type);
  checked_product({size.front(), size.back() + which.gap, which.type.bytes, 2},
                  fmt::format("size {}", extents_text(size)));
  return std::make_unique<scan_rows_problem>(which);
}

/// Of the ladder of scan what matrices have too: the operation, and what memory allows.
std::vector<rung> scan_rows_rungs(const device& on) {
  std::vector<rung> kept;
  for (const rung& each : array_rungs(on, "scan")) {
    if (each.promise == rung_promise::copy || each.name == "tuned" || each.name == "cpu-tuned") kept.push_back(each);
  }
  return kept;
}

std::vector<block_shape> no_blocks(const device&, std::string_view, std::int64_t) {
  return {};
}

}  // namespace

const ladder_operation& scan_rows_operation() {
  static const ladder_operation operation = {"scan-rows", "2^18x256", scan_rows_rungs, no_blocks, make_scan_rows,
                                             "memcpy",    "f32",      false,           true};
  return operation;
}

}  // namespace twill::tool
