// The heat equation in a cube over the processes of mpirun: u_t = u_xx + u_yy + u_zz, 0 on the boundary, by an
// alternating-direction method of Crank-Nicolson steps along one dimension after another (Peaceman and Rachford, 1955;
// Yanenko, 1971, the method of fractional steps). Lines along y lie within a slab of x; for those along x and z the
// array is redistributed into slabs of y, with y innermost, and back. So lines never lie along the innermost dimension,
// and neighbouring ones are side by side in memory.
//
// u = sin(pi x) sin(pi y) sin(pi z) decays by exp(-3 pi^2 t), and in the discrete equations by a factor that is known
// as well: the result is checked against both, and the time spent in global transposes is printed.
//
//   mpirun -n 4 heat [N] [STEPS] [DEVICE]
//
// DEVICE is cpu unless it is given; cuda or hip, where the build has that backend, takes a GPU for each process of a
// host.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <twill/mpi.hpp>
#include <twill/twill.hpp>

#include "heat_lines.hpp"

#ifndef HEAT_GPU
#define HEAT_GPU "none"  // the backend that heat_gpu.cu is compiled for
std::unique_ptr<heat::line_solver> heat::make_gpu_lines(const twill::device&, int, std::int64_t, double) {
  return nullptr;
}
#endif

namespace {

using clock_type = std::chrono::steady_clock;

constexpr double pi = 3.14159265358979323846;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

class cpu_lines final : public heat::line_solver {
 public:
  cpu_lines(const twill::device& on, std::int64_t n, double r)
      : n_(n), r_(r), c_(heat::eliminated(n, r)), stream_(on) {}

  twill::stream_ref stream() const override { return stream_; }

  void step(double* u, std::int64_t outer, std::int64_t inner) override {
    before_.resize(static_cast<std::size_t>(inner));
    for (std::int64_t o = 0; o < outer; ++o) step_plane(u + o * n_ * inner, inner);
  }

 private:
  void step_plane(double* u, std::int64_t inner) {
    for (std::int64_t k = 0; k < inner; ++k) before_[static_cast<std::size_t>(k)] = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      double* const row = u + i * inner;
      const double scale = -c_[static_cast<std::size_t>(i)] / r_;
      for (std::int64_t k = 0; k < inner; ++k) {
        const double here = row[k], next = i + 1 < n_ ? row[k + inner] : 0;
        const double right = r_ * before_[static_cast<std::size_t>(k)] + (1 - 2 * r_) * here + r_ * next;
        row[k] = (right + (i > 0 ? r_ * row[k - inner] : 0)) * scale;
        before_[static_cast<std::size_t>(k)] = here;
      }
    }
    for (std::int64_t i = n_ - 2; i >= 0; --i) {
      double* const row = u + i * inner;
      for (std::int64_t k = 0; k < inner; ++k) row[k] -= c_[static_cast<std::size_t>(i)] * row[k + inner];
    }
  }

  std::int64_t n_;
  double r_;
  std::vector<double> c_, before_;
  twill::stream stream_;
};

struct outcome {
  double exact_error = 0, discrete_error = 0;  // largest, over the largest value
  double transposes = 0, all = 0;              // seconds
};

/// The device of this process: NAME, or NAME with the process' number on its host where NAME is a kind of GPU.
struct place {
  twill::device device;
  int ordinal = -1;  // of a GPU

  explicit place(const std::string& name) {
    if (name == HEAT_GPU) {
      MPI_Comm host = MPI_COMM_NULL;
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
      MPI_Comm_rank(host, &ordinal);
      MPI_Comm_free(&host);
    } else if (name != "cpu") {
      throw std::runtime_error("heat: DEVICE is cpu, or the GPU backend of this build (" HEAT_GPU "), not " + name);
    }
    device = twill::device::open(ordinal < 0 ? name : name + ":" + std::to_string(ordinal));
  }

  std::unique_ptr<heat::line_solver> lines(std::int64_t n, double r) const {
    if (ordinal >= 0) return heat::make_gpu_lines(device, ordinal, n, r);
    return std::make_unique<cpu_lines>(device, n, r);
  }
};

outcome solve(const twill::team& team, const place& at, std::int64_t n, int steps, double dt) {
  const int rank = team.local_ranks()[0];
  const twill::dims extents{n, n, n};
  const twill::distribution slabs_of_x{{team.size(), 1, 1}, {}, {}}, slabs_of_y{{1, team.size(), 1}, {0, 2, 1}, {}};
  const auto x_part = part_of(extents, slabs_of_x, rank), y_part = part_of(extents, slabs_of_y, rank);
  twill::buffer<double> a(at.device, static_cast<std::size_t>(x_part.elements)),
      b(at.device, static_cast<std::size_t>(y_part.elements));
  twill::global_transpose forth(team, sizeof(double), {extents, slabs_of_x, slabs_of_y}, {{a.data(), b.data()}});
  twill::global_transpose back(team, sizeof(double), {extents, slabs_of_y, slabs_of_x}, {{b.data(), a.data()}});

  const double h = 1.0 / static_cast<double>(n + 1), r = dt / (2 * h * h);
  const auto lines = at.lines(n, r);
  const twill::stream_ref stream = lines->stream();
  const auto initial = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const auto wave = [&](std::int64_t i) { return std::sin(pi * h * static_cast<double>(i + 1)); };
    return wave(x) * wave(y) * wave(z);
  };
  const std::int64_t planes = x_part.extents[0];
  std::vector<double> host(a.size());
  const auto each = [&](const auto& f) {
    for (std::int64_t x = 0; x < planes; ++x)
      for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t z = 0; z < n; ++z)
          f(host[static_cast<std::size_t>((x * n + y) * n + z)], initial(x_part.first[0] + x, y, z));
  };
  each([](double& u, double begin) { u = begin; });
  a.upload(host, stream);
  forth.run(stream);
  back.run(stream);  // the array is as it was, and the kernels are loaded
  stream.wait();

  outcome found;
  const auto begin = clock_type::now();
  const auto transpose = [&](twill::global_transpose& plan) {
    stream.wait();  // for the lines
    const auto start = clock_type::now();
    plan.run(stream);
    stream.wait();
    found.transposes += seconds_since(start);
  };
  for (int step = 0; step < steps; ++step) {
    lines->step(a.data(), planes, n);  // y
    transpose(forth);
    lines->step(b.data(), 1, n * y_part.extents[1]);  // x
    lines->step(b.data(), n, y_part.extents[1]);      // z
    transpose(back);
  }
  found.all = seconds_since(begin);

  a.download(host, stream);
  stream.wait();
  const double slope = 4 * r * std::pow(std::sin(pi * h / 2), 2);
  const double discrete = std::pow((1 - slope) / (1 + slope), 3.0 * steps), exact = std::exp(-3 * pi * pi * dt * steps);
  each([&](double& u, double first) {
    found.exact_error = std::fmax(found.exact_error, std::fabs(u / exact - first));
    found.discrete_error = std::fmax(found.discrete_error, std::fabs(u / discrete - first));
  });
  return found;
}

int run(int count, char** arguments) {
  const std::int64_t n = count > 1 ? std::atoll(arguments[1]) : 63;
  const int steps = count > 2 ? std::atoi(arguments[2]) : 20;
  if (n < 1 || steps < 1) {
    std::fprintf(stderr, "heat: N and STEPS are at least 1\n");
    return 2;
  }
  const double h = 1.0 / static_cast<double>(n + 1), dt = h / 8;
  const place at(count > 3 ? arguments[3] : "cpu");
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, at.device);
  outcome mine = solve(team, at, n, steps, dt), worst;
  MPI_Allreduce(&mine, &worst, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  // Second order in both steps: of the decay after t, 3 pi^2 t (pi^2 h^2 / 12 + 9 pi^4 dt^2 / 12), and a third of it
  // again; rounding grows with the steps.
  const double time = dt * steps,
               bound = 4 * pi * pi * time * (pi * pi * h * h / 12 + pi * pi * pi * pi * dt * dt / 12);
  const bool right = worst.discrete_error < 1e-13 * static_cast<double>(n) * steps && worst.exact_error < bound;
  if (team.local_ranks()[0] == 0) {
    std::printf("heat: %lld^3 on %d ranks, %d steps: error %.3g (bound %.3g), against the discrete solution %.3g: %s\n",
                static_cast<long long>(n), team.size(), steps, worst.exact_error, bound, worst.discrete_error,
                right ? "right" : "WRONG");
    std::printf("heat: %.1f ms a step, %.0f %% of them in global transposes\n", 1e3 * worst.all / steps,
                100 * worst.transposes / worst.all);
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  int level = MPI_THREAD_SINGLE, result = 3;
  if (MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return 3;
  try {
    result = run(count, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return result;
}
