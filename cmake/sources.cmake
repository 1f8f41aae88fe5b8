# All that is compiled, from the root of the repository. An operation: a line in headers, calls, kernels, CPU and tests.

# The public headers of libtwill; then those of its sister libraries.
set(twill_headers
  include/twill/buffer.hpp
  include/twill/copy.hpp
  include/twill/cuda.hpp
  include/twill/detail/arguments.hpp
  include/twill/device.hpp
  include/twill/element.hpp
  include/twill/error.hpp
  include/twill/event.hpp
  include/twill/explain.hpp
  include/twill/export.hpp
  include/twill/extent.hpp
  include/twill/fill.hpp
  include/twill/global_transpose.hpp
  include/twill/hip.hpp
  include/twill/permute.hpp
  include/twill/reduce.hpp
  include/twill/reverse.hpp
  include/twill/scan.hpp
  include/twill/scratch.hpp
  include/twill/stream.hpp
  include/twill/team.hpp
  include/twill/transpose.hpp
  include/twill/transpose_in_place.hpp
  include/twill/twill.hpp
  include/twill/version.hpp)

# For applications with MPI: compiled where there is an mpi.h alone.
set(twill_mpi_headers include/twill/mpi.hpp)

# twill_ladder
set(twill_ladder_headers
  include/twill/ladder/array.hpp
  include/twill/ladder/permute.hpp
  include/twill/ladder/reduce.hpp
  include/twill/ladder/rung.hpp
  include/twill/ladder/sieve.hpp
  include/twill/ladder/transpose.hpp)

# twill_simt
set(twill_simt_headers
  include/twill/profile.hpp
  include/twill/simt.hpp)

# What every library of the project is made with: no state, nothing of the API.
set(twill_common_sources
  backends/error.cpp
  src/core/arguments.cpp
  src/move/plan/candidates.cpp
  src/move/plan/cost_corrections.cpp
  src/move/plan/elementwise.cpp
  src/move/plan/gather.cpp
  src/move/plan/gather_layout.cpp
  src/move/plan/misaligned.cpp
  src/move/plan/normal_form.cpp
  src/move/plan/strided.cpp
  src/move/plan/transposes.cpp
  src/move/plan/vec3.cpp
  src/team/plan/choice.cpp
  src/team/plan/exchange.cpp
  src/team/plan/layout.cpp
  src/team/plan/pitched.cpp)

# The calls, and what they know of backends: backends/backend.hpp.
set(twill_core_sources
  backends/borrow.cpp
  src/core/buffer.cpp
  src/core/caller_checks.cpp
  src/core/device.cpp
  src/core/element.cpp
  src/core/error.cpp
  src/core/event.cpp
  src/core/offsets.cpp
  src/core/stream.cpp
  src/move/copy.cpp
  src/move/explain.cpp
  src/move/fill.cpp
  src/move/permute.cpp
  src/move/reverse.cpp
  src/move/transpose_in_place.cpp
  src/operations/backends.cpp
  src/reduce/reduce.cpp
  src/scan/scan.cpp
  src/team/agreement.cpp
  src/team/collective.cpp
  src/team/counters.cpp
  src/team/direct.cpp
  src/team/global_transpose.cpp
  src/team/job.cpp
  src/team/layout_checks.cpp
  src/team/mixed.cpp
  src/team/peer_memory.cpp
  src/team/copy_transport.cpp
  src/team/ring.cpp
  src/team/selection.cpp
  src/team/shared.cpp
  src/team/shared_segment.cpp
  src/team/staged.cpp
  src/team/staging.cpp
  src/team/team.cpp
  src/team/tuning.cpp)

# Kernels and their launches: compiled once for each of cuda, hip and simt.
set(twill_kernel_sources
  src/move/gpu/copy.cpp
  src/move/gpu/elementwise.cpp
  src/move/gpu/fill.cpp
  src/move/gpu/gather.cpp
  src/move/gpu/in_place.cpp
  src/move/gpu/in_place_passes.cpp
  src/move/gpu/in_place_square.cpp
  src/move/gpu/misaligned.cpp
  src/move/gpu/narrow.cpp
  src/move/gpu/permute.cpp
  src/move/gpu/reverse.cpp
  src/move/gpu/rows.cpp
  src/move/gpu/staged.cpp
  src/move/gpu/staged_strided.cpp
  src/move/gpu/tiled.cpp
  src/move/gpu/vec3.cpp
  src/operations/gpu.cpp
  src/reduce/gpu/argmin.cpp
  src/reduce/gpu/extremes.cpp
  src/reduce/gpu/floats.cpp
  src/reduce/gpu/integer_columns.cpp
  src/reduce/gpu/integers.cpp
  src/reduce/gpu/op_traits.cpp
  src/reduce/gpu/reduce.cpp
  src/scan/gpu/extremes.cpp
  src/scan/gpu/scan.cpp
  src/scan/gpu/segment_sums.cpp
  src/scan/gpu/sums.cpp
  src/team/gpu/exchange.cpp
  src/team/gpu/handshake.cpp)

# What cuda and hip share: compiled once for each.
set(twill_gpu_sources
  backends/gpu/collectives.cpp
  backends/gpu/device.cpp
  backends/gpu/open.cpp
  backends/gpu/peer_access.cpp)
set(twill_launch_sources backends/gpu/launch.cpp)

# What cpu and simt share.
set(twill_host_sources
  backends/host/allocations.cpp
  backends/host/cgroup.cpp
  backends/host/environment.cpp
  backends/host/host_device.cpp
  backends/host/machine.cpp
  backends/host/worker_pool.cpp)

# The CPU.
set(twill_cpu_sources
  backends/cpu/device.cpp
  src/move/cpu/composite_tile.cpp
  src/move/cpu/copy.cpp
  src/move/cpu/copy_runs.cpp
  src/move/cpu/fill.cpp
  src/move/cpu/gather.cpp
  src/move/cpu/in_place_passes.cpp
  src/move/cpu/mover.cpp
  src/move/cpu/permute.cpp
  src/move/cpu/reverse.cpp
  src/move/cpu/tile_mover.cpp
  src/move/cpu/transpose.cpp
  src/move/cpu/transpose_in_place.cpp
  src/operations/cpu.cpp
  src/reduce/cpu/reduce.cpp
  src/scan/cpu/scan.cpp
  src/team/cpu/handshake.cpp
  src/team/cpu/tile.cpp)
set(twill_vector_sources backends/cpu/vector.cpp)

# The simulator: twill_simt, with the kernels above.
set(twill_simt_sources
  backends/simt/access_observer.cpp
  backends/simt/access_rules.cpp
  backends/simt/block_fault.cpp
  backends/simt/block_runner.cpp
  backends/simt/contradictions.cpp
  backends/simt/elf_file.cpp
  backends/simt/executor.cpp
  backends/simt/fiber.cpp
  backends/simt/hooks.cpp
  backends/simt/host_access.cpp
  backends/simt/kernel_name.cpp
  backends/simt/launch.cpp
  backends/simt/line_program.cpp
  backends/simt/memory_checker.cpp
  backends/simt/memory_map.cpp
  backends/simt/memory_shadow.cpp
  backends/simt/models.cpp
  backends/simt/open.cpp
  backends/simt/order.cpp
  backends/simt/predict.cpp
  backends/simt/profile.cpp
  backends/simt/race_history.cpp
  backends/simt/recorder.cpp
  backends/simt/reported_access.cpp
  backends/simt/simt_device.cpp
  backends/simt/simt_streams.cpp
  backends/simt/source_line.cpp
  backends/simt/stream_order.cpp
  backends/simt/timing_sheet.cpp
  backends/simt/link_sheet.cpp
  backends/simt/transaction_counter.cpp
  backends/simt/rules/amd.cpp
  backends/simt/rules/fermi.cpp
  backends/simt/rules/kepler.cpp
  backends/simt/rules/maxwell.cpp
  backends/simt/rules/parts.cpp
  backends/simt/rules/tesla.cpp
  backends/simt/rules/volta.cpp
  backends/simt/timing/channels.cpp
  backends/simt/timing/kernel_code.cpp
  backends/simt/timing/launch_timer.cpp
  backends/simt/timing/machine.cpp
  backends/simt/timing/memory_system.cpp
  backends/simt/timing/prediction.cpp
  backends/simt/timing/trace.cpp
  src/operations/simt.cpp)

# The ladders: twill_ladder, with their kernels once for each of cuda, hip and simt, and the rungs of the CPU.
set(twill_ladder_sources
  src/ladder/arrays.cpp
  src/ladder/ladder.cpp
  src/ladder/ladders.cpp
  src/ladder/permute.cpp
  src/ladder/reduce.cpp
  src/ladder/sieve.cpp
  src/ladder/transpose.cpp)

set(twill_ladder_kernel_sources
  src/ladder/gpu/array_rungs.cpp
  src/ladder/gpu/reduce_rungs.cpp
  src/ladder/gpu/sieve.cpp
  src/ladder/gpu/table.cpp
  src/ladder/gpu/transpose_rungs.cpp)
set(twill_ladder_gpu_sources src/ladder/gpu/geam.cpp)
set(twill_ladder_simt_sources src/ladder/gpu/without_peers.cpp)
set(twill_ladder_cub_sources src/ladder/gpu/cub.cpp)  # where its headers are found
set(twill_ladder_tensor_sources src/ladder/gpu/tensor_library.cpp)  # cuda alone
set(twill_ladder_cpu_sources
  src/ladder/cpu/array_rungs.cpp
  src/ladder/cpu/omatcopy.cpp
  src/ladder/cpu/reduce_rungs.cpp
  src/ladder/cpu/sieve.cpp
  src/ladder/cpu/table.cpp
  src/ladder/cpu/transpose_rungs.cpp)

# What a datasheet may say, as a JSON Schema: for editors.
set(twill_device_schema presets/devices/schema.json)

# Datasheets of the simulated devices, built into the library.
set(twill_device_models
  presets/devices/8800gtx.json
  presets/devices/a100.json
  presets/devices/b200.json
  presets/devices/gtx280.json
  presets/devices/h100.json
  presets/devices/h200.json
  presets/devices/k20.json
  presets/devices/mi100.json
  presets/devices/mi250x.json
  presets/devices/mi300x.json
  presets/devices/mi50.json
  presets/devices/rx6800xt.json
  presets/devices/rx7900xtx.json
  presets/devices/v100.json)

# Stands in for the simulator in a tool without it.
set(twill_tool_without_simt_sources src/tool/without_simulator.cpp)

# Processes of mpirun, and what stands in for them in a tool without MPI.
set(twill_tool_mpi_sources src/tool/mpi_processes.cpp)
set(twill_tool_without_mpi_sources src/tool/without_mpi.cpp)

# fmt's functions, where its library is not used.
set(twill_tool_fmt_sources src/tool/fmt_library.cpp)

# Loops over all elements of arrays: random input, and the check of outputs.
set(twill_tool_loop_sources
  src/tool/data.cpp
  src/tool/moved.cpp
  src/tool/reference.cpp
  src/tool/team_data.cpp)

set(twill_tool_sources
  src/tool/bench_array.cpp
  src/tool/bench_command.cpp
  src/tool/bench_fill.cpp
  src/tool/bench_move.cpp
  src/tool/bench_plan.cpp
  src/tool/bench_reduce.cpp
  src/tool/bench_run.cpp
  src/tool/bench_scan_rows.cpp
  src/tool/bench_table.cpp
  src/tool/bench_team.cpp
  src/tool/bench_transpose.cpp
  src/tool/candidates.cpp
  src/tool/case_runner.cpp
  src/tool/cases.cpp
  src/tool/command_line.cpp
  src/tool/compare_command.cpp
  src/tool/devices_command.cpp
  src/tool/explain_command.cpp
  src/tool/interrupt.cpp
  src/tool/main.cpp
  src/tool/output_file.cpp
  src/tool/parse.cpp
  src/tool/processes.cpp
  src/tool/profile_command.cpp
  src/tool/profile_svg.cpp
  src/tool/profile_text.cpp
  src/tool/progress.cpp
  src/tool/random_cases.cpp
  src/tool/report.cpp
  src/tool/set_text.cpp
  src/tool/source_text.cpp
  src/tool/statistics.cpp
  src/tool/svg_page.cpp
  src/tool/sweep_svg.cpp
  src/tool/team_prediction.cpp
  src/tool/team_runner.cpp
  src/tool/text.cpp
  src/tool/timing.cpp
  src/tool/working_set.cpp)

include("${CMAKE_CURRENT_LIST_DIR}/test_sources.cmake")
