#pragma once

namespace twill::detail {

/// The kernel families that move normal forms: those of transposed matrices first, then those of any rank.
enum class family {
  narrow,
  tiled_2d,
  tiled_4byte,
  misaligned_2d,
  staged,
  staged_misaligned,
  staged_strided,
  staged_rows,
  staged_cols,
  vec3,
  misaligned,
  rows,
  gather,
  elementwise_vectors,
  elementwise
};
constexpr int families = 15;

const char* name_of(family kind);

}  // namespace twill::detail
