#pragma once

// What the operations that only move elements share on the bench: one description of where each element belongs, one
// check of it, and the rungs.

#include <functional>
#include <string>
#include <vector>

#include "problem.hpp"

namespace twill::tool {

/// One dimension of elements that were moved: an index adds these bytes to the place in the input and in the output.
struct moved_dim {
  std::int64_t extent = 1, in_stride = 0, out_stride = 0;
};

/// Elements of the data of data.hpp and where they belong; outermost dimension first, as they lie in the output.
struct moved_elements {
  std::int64_t bytes = 0;       ///< of an element, 64 at most
  std::vector<moved_dim> dims;  ///< output strides are positive, each at least the span of the dimensions inside it
  /// The place in the input, in bytes, of the element with an index of the output, where strides cannot say it.
  std::function<std::int64_t(const extents& index)> source;
  std::int64_t in_first = 0;  ///< the place in the input of the first element of the output
};

/// Compares, exactly, an output in device memory with the elements it should hold; gaps between them should hold
/// poison. Returns where it first differs, "" when nowhere. Host memory: 64 MiB of the output.
std::string first_mismatch(stream_ref stream, const void* out, std::size_t out_bytes, const moved_elements& moved);

/// A problem whose output holds every element of the input once.
class moving_problem : public ladder_problem {
 public:
  moving_problem(const extents& size, std::int64_t element_bytes) : size_(size), element_bytes_(element_bytes) {}

  std::string text() const override;
  std::int64_t rows() const override { return size_.size() == 1 ? 1 : size_.front(); }
  std::int64_t cols() const override;
  std::size_t in_bytes() const override { return static_cast<std::size_t>(elements_bytes()); }
  std::size_t out_bytes() const override { return static_cast<std::size_t>(elements_bytes()); }
  double moved_bytes() const override { return 2.0 * static_cast<double>(elements_bytes()); }
  extents all_extents() const override { return size_; }

  /// `memcpy` is run here, every other rung by `move`.
  void run(stream_ref stream, const rung& which, const void* in, void* out, const rung_options& options) const override;
  std::string fault(stream_ref stream, const rung& which, block_shape block, const void* out) const override;

 protected:
  virtual void move(stream_ref stream, const rung& which, const void* in, void* out) const = 0;
  virtual moved_elements moved() const = 0;
  /// What a rung that promises something else should write; a copy by default.
  virtual moved_elements expected_of(const rung& which, block_shape block) const;
  virtual std::int64_t elements_bytes() const = 0;
  /// Bytes of the output that are compared; what lies behind is scratch.
  virtual std::size_t checked_bytes() const { return out_bytes(); }

  const extents& size() const { return size_; }
  std::int64_t element_bytes() const { return element_bytes_; }

 private:
  extents size_;
  std::int64_t element_bytes_;
};

/// `tuned` (on the CPU `cpu-tuned`), which is the public operation `op`, and `memcpy`.
std::vector<rung> moving_rungs(const device& on, std::string_view op, std::string_view lesson);
/// None: neither rung takes a block.
std::vector<block_shape> moving_blocks(const device& on, std::string_view rung, std::int64_t element_bytes);

}  // namespace twill::tool
