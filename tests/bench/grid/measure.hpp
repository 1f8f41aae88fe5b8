#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "cells.hpp"

namespace grid {

/// Large outputs are compared in windows of so many bytes.
inline constexpr std::size_t window_bytes = std::size_t{256} << 10;

struct times {
  double median = 0, p25 = 0, p75 = 0;  ///< seconds of one call
};

/// One kernel on one cell.
struct outcome {
  cell on;
  std::string kernel;
  times seconds;
  double of_memcpy = 0;
  std::string fault;  ///< "" when the output was right
};

/// Device memory that all cells share: inputs with known random bytes, outputs, scratch.
class laboratory {
 public:
  /// For cells of up to `most_bytes`. Throws: out_of_memory.
  laboratory(const twill::device& on, std::size_t most_bytes, int reps);

  const twill::device& on() const { return device_; }
  bool has(const std::string& rung) const;

  /// Checks each kernel, in so many windows of large outputs, then times all of them, and memcpy first, turn about.
  /// What a kernel cannot do is left out.
  std::vector<outcome> measure(const cell& which, const std::vector<std::string>& kernels, int windows);

 private:
  using call = std::function<void(int pair)>;

  void fill_inputs(std::size_t bytes);
  unsigned char* in(int pair) const { return static_cast<unsigned char*>(in_.data()) + offset(pair); }
  unsigned char* out(int pair) const { return static_cast<unsigned char*>(out_.data()) + offset(pair); }
  std::size_t offset(int pair) const { return pitch_ * static_cast<std::size_t>(pair); }
  call call_of(const cell& which, const std::string& kernel) const;
  std::string fault_of(const cell& which, const std::string& kernel, const call& run, int windows);
  std::string first_wrong(const cell& which, const unsigned char* found, std::int64_t first, std::int64_t count) const;
  std::vector<times> time_all(const std::vector<call>& calls);

  twill::device device_;
  twill::stream stream_;
  int reps_;
  std::vector<unsigned char> host_;  // the random bytes, which the inputs repeat
  std::size_t capacity_;
  twill::raw_buffer in_, out_;
  std::size_t filled_ = 0;  // bytes of the inputs that hold the random bytes
  std::size_t pitch_ = 0;
  int pairs_ = 1;
};

}  // namespace grid
