#pragma once

// What a bench is going to run, settled and checked against the devices before anything is measured.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <twill/device.hpp>

#include "cases.hpp"
#include "problem.hpp"

namespace twill::tool {

/// What the user asked of `twill bench`, the same for every operation. Empty lists mean the default.
struct bench_options {
  std::vector<std::string> devices;
  std::vector<std::string> kernels;
  case_set set;
  std::vector<block_shape> blocks;
  bool regret = false;  ///< every candidate of the planner runs
  std::vector<loop_kind> loops;
  int reps = 31;
  bool cold = true;
};

/// The rung that "vs CPU" is counted from, and the device that runs it.
constexpr std::string_view base_name = "cpu-naive";
constexpr std::string_view base_device = "cpu";

struct planned_rung {
  rung info;
  block_shape block;
};

/// Rungs that are shown together.
struct planned_table {
  loop_kind loop = loop_kind::over;
  std::optional<block_shape> block;  ///< empty: each rung's own default
  std::vector<planned_rung> rungs;   ///< without the roof and the CPU's rungs
  std::vector<std::string> notes;    ///< which rungs are left out, and why
};

/// One device and problem.
struct planned_case {
  device on;
  element_type type;
  std::string part;  ///< of --grid or --sweep
  std::shared_ptr<const ladder_problem> problem;
  std::optional<planned_rung> roof;
  std::vector<planned_table> tables;
};

struct bench_plan {
  const ladder_operation* operation = nullptr;
  std::vector<device> devices;
  std::optional<device> cpu;            ///< runs `cpu_rungs` beside each other device
  std::vector<planned_rung> cpu_rungs;  ///< the base of "vs CPU" among them, without the CPU's roof
  std::optional<planned_rung> cpu_roof;
  std::vector<planned_case> cases;
  std::vector<std::string> notes;  ///< on cases that are left out
};

/// The named devices, each once. None named: the default one, or on a machine without a GPU the CPU and, for
/// correctness, simt.
std::vector<device> open_devices(std::vector<std::string> names);

/// The problem of a case. Refuses an order, or a gap, where it means nothing.
std::unique_ptr<ladder_problem> problem_of(const ladder_operation& operation, const bench_case& wanted);

/// Refuses what the devices cannot do: unknown devices, kernels, blocks, and more memory than there is.
bench_plan plan_bench(const ladder_operation& operation, const bench_options& options);

/// Whether the times of this device are its own; those of a simulated device are the CPU's.
bool has_clock(const device& on);

/// Whether one input and output of the problem fit the device's free memory.
bool fits_memory(const device& on, const ladder_problem& problem);

}  // namespace twill::tool
