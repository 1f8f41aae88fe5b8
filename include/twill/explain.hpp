#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <twill/export.hpp>
#include <twill/permute.hpp>
#include <twill/stream.hpp>

namespace twill {

/// A kernel that can move a shape, and what the planner expects of it.
struct candidate {
  std::string kernel;       ///< its family, as kernel_families() names it
  double microseconds = 0;  ///< expected
  std::string plan;         ///< tile, grid and shared memory, where they are known before the launch
};

/// A family of kernels that the planner chooses from.
struct kernel_family {
  std::string name;   ///< "gather"
  std::string takes;  ///< the shapes that it applies to, in words
};

/// All families. A device may lack what one of them needs for a shape: explain_permute() knows.
TWILL_API std::vector<kernel_family> kernel_families();

/// The candidates for `permute_bytes` of a shape, the cheapest first: that one is chosen.
///
/// Shape: as for `permute`. Empty for an empty shape, for one that is a plain copy of contiguous bytes, and on "cpu".
/// Memory: `in` and `out` are not accessed, only their alignment counts; null means fully aligned.
/// Order: nothing is launched.
/// Throws: invalid_argument, as `permute_bytes`.
TWILL_API std::vector<candidate> explain_permute(const device& on, extent element_bytes, const permute_shape& shape,
                                                 const void* in = nullptr, const void* out = nullptr);

/// The time on the host that one choice of a kernel for `permute_bytes` takes, once the arguments are checked.
///
/// Shape: as for `explain_permute`; 0 where that is empty.
/// Order: nothing is launched.
/// Throws: invalid_argument, as `permute_bytes`.
TWILL_API std::chrono::nanoseconds planning_time(const device& on, extent element_bytes, const permute_shape& shape);

/// `permute_bytes` by the family of that name, however high its cost.
///
/// Throws: also invalid_argument for a family that cannot move the shape, a plain copy of contiguous bytes, and a name
///   that is not known; unsupported on "cpu", which has no kernels to choose from.
TWILL_API void permute_bytes_with(stream_ref stream, const std::string& kernel, const void* in, void* out,
                                  extent element_bytes, const permute_shape& shape);

}  // namespace twill
