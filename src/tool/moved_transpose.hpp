#pragma once

#include "moving_problem.hpp"

namespace twill::tool {

/// Transposes of a batch of packed matrices, of elements of any size: {rows, cols} or {batch, rows, cols}.
class moved_transpose : public moving_problem {
 public:
  /// Refuses, naming the size, other numbers of extents and too many bytes.
  moved_transpose(const extents& size, std::int64_t element_bytes);

  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t batch() const override { return batch_; }
  extents all_extents() const override { return batch_ == 1 ? extents{} : size(); }

  /// `memcpy`, `tuned` and `cpu-naive`; other rungs cannot do this, and throw errc::unsupported.
  void run(stream_ref stream, const rung& which, const void* in, void* out, const rung_options& options) const override;

 protected:
  void move(stream_ref stream, const void* in, void* out) const override;
  moved_elements moved() const override;
  std::int64_t elements_bytes() const override { return batch_ * rows_ * cols_ * element_bytes_; }
  std::int64_t element_bytes() const { return element_bytes_; }

 private:
  std::int64_t batch_, rows_, cols_, element_bytes_;
};

/// Refuses sizes that are no matrix and no batch of them.
extents matrix_extents(const extents& size);

}  // namespace twill::tool
