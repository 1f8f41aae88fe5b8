// The lines of heat.cpp: Crank-Nicolson steps along one dimension of an array, on the device that has it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <twill/twill.hpp>

namespace heat {

/// Steps along the middle dimension of `outer` x n x `inner` values: a tridiagonal system a line (Thomas, 1949),
/// `inner` of them side by side in memory.
class line_solver {
 public:
  line_solver() = default;
  virtual ~line_solver() = default;
  line_solver(const line_solver&) = delete;
  line_solver& operator=(const line_solver&) = delete;

  /// Where steps are done, one after another.
  virtual twill::stream_ref stream() const = 0;
  virtual void step(double* u, std::int64_t outer, std::int64_t inner) = 0;
};

/// The upper diagonal after the elimination, which is the same for all lines. `r` is dt / (2 h^2).
inline std::vector<double> eliminated(std::int64_t n, double r) {
  std::vector<double> c(static_cast<std::size_t>(n));
  double before = 0;
  for (double& each : c) before = each = -r / (1 + 2 * r + r * before);
  return c;
}

/// By a kernel of the application in a stream of the application; defined in heat_gpu.cu.
std::unique_ptr<line_solver> make_gpu_lines(const twill::device& on, int ordinal, std::int64_t n, double r);

}  // namespace heat
