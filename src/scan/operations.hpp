#pragma once

// What the calls of scan ask of a backend.

#include <cstdint>

#include <twill/scan.hpp>

#include "backends/backend.hpp"

namespace twill::detail {

/// Rows and cols at least 1. Segments begin at `segments` places of a single row, where `offsets` is not null.
struct scan_args {
  const void* in;
  void* out;
  element_type type;
  scan_options options;
  std::int64_t rows, cols;
  std::int64_t in_ld, out_ld;
  const std::int64_t* offsets;
  std::int64_t segments;
  void* scratch;
};

/// The scan of one backend (src/operations).
struct scan_operations {
  void (*scan)(const work_queue&, const scan_args&);
  std::size_t (*scratch)(const scan_args&);  ///< bytes; reads no pointer, and of `segments` only whether it is 0
};

}  // namespace twill::detail
