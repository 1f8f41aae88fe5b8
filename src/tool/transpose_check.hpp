#pragma once

#include <cstdint>
#include <optional>

#include <twill/ladder/rung.hpp>
#include <twill/stream.hpp>

namespace twill::tool {

/// A packed matrix in the data of pattern.hpp.
struct data_matrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t element_bytes = 0;  ///< 1, 2, 4, 8 or 16
};

struct matrix_place {
  std::int64_t row = 0;
  std::int64_t col = 0;
};

/// Compares, exactly, a rung's output in device memory with what the rung promises for the input `in`, whose tiles are
/// `tile` x `tile`. Returns the first wrong place of the output. Host memory: one chunk of the output.
std::optional<matrix_place> first_wrong(stream_ref stream, const void* out, const data_matrix& in, rung_promise promise,
                                        int tile);

}  // namespace twill::tool
