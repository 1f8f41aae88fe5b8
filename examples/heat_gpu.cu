// The lines of heat.cpp on a GPU, as an application would have them: a kernel and a stream of its own, which Twill
// borrows. The same source is CUDA and HIP.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "heat_lines.hpp"

#ifdef __HIP__
#include <hip/hip_runtime.h>
#include <twill/hip.hpp>
#define GPU(name) hip##name
namespace vendor = twill::hip;
#else
#include <cuda_runtime.h>
#include <twill/cuda.hpp>
#define GPU(name) cuda##name
namespace vendor = twill::cuda;
#endif

namespace {

constexpr int block = 128;

/// A line a thread: neighbouring threads have neighbouring lines, so that every access is coalesced.
__global__ void step_lines(double* u, const double* __restrict__ c, double r, std::int64_t n, std::int64_t inner,
                           std::int64_t lines) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x;
  if (line >= lines) return;
  double* const values = u + line / inner * n * inner + line % inner;
  double before = 0, here = values[0], solved = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double next = i + 1 < n ? values[(i + 1) * inner] : 0;
    solved = (r * before + (1 - 2 * r) * here + r * next + r * solved) * (-c[i] / r);
    values[i * inner] = solved;
    before = here;
    here = next;
  }
  for (std::int64_t i = n - 2; i >= 0; --i) values[i * inner] = solved = values[i * inner] - c[i] * solved;
}

void require(GPU(Error_t) result) {
  if (result != GPU(Success)) throw std::runtime_error(std::string("heat: ") + GPU(GetErrorString)(result));
}

class gpu_lines final : public heat::line_solver {
 public:
  gpu_lines(const twill::device& on, int ordinal, std::int64_t n, double r)
      : ordinal_(ordinal), n_(n), r_(r), c_(on, static_cast<std::size_t>(n)) {
    require(GPU(SetDevice)(ordinal));
    require(GPU(StreamCreate)(&stream_));
    const auto eliminated = heat::eliminated(n, r);
    c_.upload(eliminated, stream());
    stream().wait();
  }
  ~gpu_lines() override { static_cast<void>(GPU(StreamDestroy)(stream_)); }

  twill::stream_ref stream() const override { return vendor::borrow(stream_, ordinal_); }

  void step(double* u, std::int64_t outer, std::int64_t inner) override {
    const std::int64_t lines = outer * inner;
    if (lines == 0) return;
    require(GPU(SetDevice)(ordinal_));
    step_lines<<<static_cast<unsigned>((lines + block - 1) / block), block, 0, stream_>>>(u, c_.data(), r_, n_, inner,
                                                                                          lines);
    require(GPU(GetLastError)());
  }

 private:
  int ordinal_;
  std::int64_t n_;
  double r_;
  twill::buffer<double> c_;
  GPU(Stream_t) stream_ = nullptr;
};

}  // namespace

std::unique_ptr<heat::line_solver> heat::make_gpu_lines(const twill::device& on, int ordinal, std::int64_t n,
                                                        double r) {
  return std::make_unique<gpu_lines>(on, ordinal, n, r);
}
