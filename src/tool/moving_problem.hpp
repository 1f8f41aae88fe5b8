#pragma once

// What the operations that only move elements share on the bench: their rungs and their check.

#include <string>
#include <vector>

#include "ladder_problem.hpp"
#include "moved_check.hpp"

namespace twill::tool {

/// A problem whose output holds every element of the input once.
class moving_problem : public ladder_problem {
 public:
  explicit moving_problem(const extents& size) : size_(size) {}

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
  virtual void move(stream_ref stream, const void* in, void* out) const = 0;
  virtual moved_elements moved() const = 0;
  virtual std::int64_t elements_bytes() const = 0;
  /// Bytes of the output that are compared; what lies behind is scratch.
  virtual std::size_t checked_bytes() const { return out_bytes(); }

  const extents& size() const { return size_; }

 private:
  extents size_;
};

/// `tuned` (on the CPU `cpu-tuned`), which is the public operation `op`, and `memcpy`.
std::vector<rung> moving_rungs(const device& on, std::string_view op, std::string_view lesson);
/// None: neither rung takes a block.
std::vector<block_shape> moving_blocks(const device& on, std::string_view rung, std::int64_t element_bytes);

}  // namespace twill::tool
