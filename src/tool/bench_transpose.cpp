#include <fmt/core.h>

#include <twill/ladder/transpose.hpp>

#include "format.hpp"
#include "ladder_problem.hpp"
#include "moved_transpose.hpp"
#include "refuse.hpp"
#include "transpose_check.hpp"

namespace twill::tool {
namespace {

class transpose_problem : public ladder_problem {
 public:
  explicit transpose_problem(const data_matrix& matrix) : matrix_(matrix) {}

  std::string text() const override { return extents_text({matrix_.rows, matrix_.cols}); }
  std::int64_t rows() const override { return matrix_.rows; }
  std::int64_t cols() const override { return matrix_.cols; }
  std::size_t in_bytes() const override {
    return static_cast<std::size_t>(matrix_.rows * matrix_.cols * matrix_.element_bytes);
  }
  std::size_t out_bytes() const override { return in_bytes(); }
  double moved_bytes() const override { return 2.0 * static_cast<double>(in_bytes()); }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    transpose_rung(stream, which.name, in, out, matrix_.element_bytes, matrix_.rows, matrix_.cols, options);
  }

  std::string fault(stream_ref stream, const rung& which, block_shape block, const void* out) const override {
    const auto wrong = first_wrong(stream, out, matrix_, which.promise, block.x);
    return wrong ? fmt::format("first wrong element at row {}, column {} of the output", wrong->row, wrong->col) : "";
  }

 private:
  data_matrix matrix_;
};

/// The sizes of elements that the steps of the ladder move.
bool is_rung_size(std::int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

std::vector<block_shape> blocks(const device& on, std::string_view rung, std::int64_t element_bytes) {
  return is_rung_size(element_bytes) ? transpose_rung_blocks(on, rung, element_bytes) : std::vector<block_shape>{};
}

std::unique_ptr<ladder_problem> make_problem(const extents& size, const element_type& type) {
  if (size.size() > 2 || !is_rung_size(type.bytes)) return std::make_unique<moved_transpose>(size, type.bytes);
  const data_matrix matrix = {size.front(), size.back(), type.bytes};
  checked_product({matrix.rows, matrix.cols, type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<transpose_problem>(matrix);
}

}  // namespace

const ladder_operation& transpose_operation() {
  static const ladder_operation operation = {"transpose", "4096x4096", transpose_rungs, blocks, make_problem};
  return operation;
}

}  // namespace twill::tool
