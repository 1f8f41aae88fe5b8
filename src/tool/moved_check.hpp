#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <twill/stream.hpp>

namespace twill::tool {

/// One dimension of elements that were moved: an index adds these bytes to the place in the input and in the output.
struct moved_dim {
  std::int64_t extent = 1, in_stride = 0, out_stride = 0;
};

/// Elements of the data of pattern.hpp and where they belong; outermost first, as they lie in the output.
struct moved_elements {
  std::int64_t bytes = 0;     ///< of an element, 64 at most
  std::int64_t in_first = 0;  ///< place in the input of the element of index 0, in bytes
  std::vector<moved_dim> dims;
};

/// Compares, exactly, an output in device memory with the elements it should hold; gaps between them should hold
/// poison. Returns where it first differs, "" when nowhere. Host memory: one chunk of the output.
std::string first_moved_wrong(stream_ref stream, const void* out, std::size_t out_bytes, const moved_elements& moved);

}  // namespace twill::tool
