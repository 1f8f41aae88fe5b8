#pragma once

namespace twill::detail {

/// The kernel families that move normal forms.
enum class family { transpose, tiled, misaligned, rows, gather, elementwise };
constexpr int families = 6;

const char* name_of(family kind);

}  // namespace twill::detail
