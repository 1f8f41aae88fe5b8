# Everything that is compiled, in one place, relative to the root of the repository. An operation is one line in each of
# headers, kernels (twice) and tests.

set(twill_headers
  include/twill/buffer.hpp
  include/twill/copy.hpp
  include/twill/cuda.hpp
  include/twill/device.hpp
  include/twill/element.hpp
  include/twill/error.hpp
  include/twill/event.hpp
  include/twill/hip.hpp
  include/twill/ladder/array.hpp
  include/twill/ladder/reduce.hpp
  include/twill/ladder/rung.hpp
  include/twill/ladder/transpose.hpp
  include/twill/permute.hpp
  include/twill/profile.hpp
  include/twill/reduce.hpp
  include/twill/reverse.hpp
  include/twill/scan.hpp
  include/twill/sieve.hpp
  include/twill/simt.hpp
  include/twill/stream.hpp
  include/twill/transpose.hpp
  include/twill/transpose_in_place.hpp
  include/twill/twill.hpp
  include/twill/version.hpp)

# Knows backends only through backend.hpp.
set(twill_core_sources
  backends/backends.cpp
  backends/borrow.cpp
  src/core/arguments.cpp
  src/core/array_ladder.cpp
  src/core/buffer.cpp
  src/core/check.cpp
  src/core/copy.cpp
  src/core/device.cpp
  src/core/element.cpp
  src/core/event.cpp
  src/core/ladder.cpp
  src/core/permute.cpp
  src/core/permute_plan.cpp
  src/core/reverse.cpp
  src/core/reduce.cpp
  src/core/reduce_ladder.cpp
  src/core/scan.cpp
  src/core/sieve.cpp
  src/core/stream.cpp
  src/core/transpose.cpp
  src/core/transpose_in_place.cpp
  src/core/transpose_ladder.cpp)

# Compiled once for each of cuda, hip and simt.
set(twill_kernel_sources
  src/ops/copy.cpp
  src/ops/in_place_passes.cpp
  src/ops/in_place_square.cpp
  src/ops/permute.cpp
  src/ops/permute_gather.cpp
  src/ops/permute_pieces.cpp
  src/ops/permute_plan.cpp
  src/ops/permute_rows.cpp
  src/ops/permute_tile.cpp
  src/ops/permute_words.cpp
  src/ops/reverse.cpp
  src/ops/scan.cpp
  src/ops/scan_extremes.cpp
  src/ops/scan_segment_sums.cpp
  src/ops/scan_sums.cpp
  src/ops/sieve.cpp
  src/ops/reduce.cpp
  src/ops/reduce_complex.cpp
  src/ops/reduce_integer_columns.cpp
  src/ops/reduce_integers.cpp
  src/ops/reduce_least.cpp
  src/ops/reduce_meaning.cpp
  src/ops/reduce_numbers.cpp
  src/ops/reduce_places.cpp
  src/ops/table.cpp
  src/ops/transpose.cpp
  src/ops/transpose_apart.cpp
  src/ops/transpose_spans.cpp
  src/ops/transpose_band.cpp
  src/ops/transpose_gather.cpp
  src/ops/transpose_in_place.cpp
  src/ops/transpose_odd.cpp
  src/ops/transpose_quads.cpp
  src/ops/transpose_skinny.cpp
  src/ops/transpose_slab.cpp
  src/ops/transpose_small.cpp
  src/ops/transpose_strip.cpp
  src/ops/transpose_tile.cpp
  src/ops/transpose_whole.cpp
  src/ops/transpose_words.cpp
  src/ladder/reduce.cpp
  src/ladder/array.cpp
  src/ladder/table.cpp
  src/ladder/transpose.cpp)

# Compiled once for each of cuda and hip.
set(twill_gpu_sources
  backends/gpu/device.cpp
  backends/gpu/geam.cpp
  backends/gpu/launch.cpp
  backends/gpu/open.cpp)

# Reference rungs, where the headers of their libraries are found.
set(twill_cub_sources backends/cuda/peers/cub.cpp)

# What cpu and simt share.
set(twill_host_sources
  backends/host/allocations.cpp
  backends/host/host_device.cpp
  backends/host/machine.cpp
  backends/host/thread_team.cpp)

set(twill_cpu_sources
  backends/cpu/array_ladder.cpp
  backends/cpu/copy.cpp
  backends/cpu/device.cpp
  backends/cpu/omatcopy.cpp
  backends/cpu/permute.cpp
  backends/cpu/reverse.cpp
  backends/cpu/reduce.cpp
  backends/cpu/reduce_ladder.cpp
  backends/cpu/scan.cpp
  backends/cpu/sieve.cpp
  backends/cpu/transpose.cpp
  backends/cpu/transpose_in_place.cpp
  backends/cpu/transpose_ladder.cpp
  backends/cpu/vector.cpp)
set(twill_simt_sources
  backends/simt/access_rules.cpp
  backends/simt/block_fault.cpp
  backends/simt/block_runner.cpp
  backends/simt/block_watch.cpp
  backends/simt/contradictions.cpp
  backends/simt/elf_file.cpp
  backends/simt/executor.cpp
  backends/simt/fiber.cpp
  backends/simt/hooks.cpp
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
  backends/simt/rules/amd.cpp
  backends/simt/rules/fermi.cpp
  backends/simt/rules/kepler.cpp
  backends/simt/rules/maxwell.cpp
  backends/simt/rules/parts.cpp
  backends/simt/rules/tesla.cpp
  backends/simt/rules/volta.cpp
  backends/simt/simt_device.cpp
  backends/simt/source_line.cpp
  backends/simt/timing/channels.cpp
  backends/simt/timing/kernel_code.cpp
  backends/simt/timing/launch_timer.cpp
  backends/simt/timing/machine.cpp
  backends/simt/timing/memory_system.cpp
  backends/simt/timing/prediction.cpp
  backends/simt/timing/trace.cpp
  backends/simt/timing_sheet.cpp
  backends/simt/told_access.cpp
  backends/simt/transaction_counter.cpp)

# What a datasheet may say, as a JSON Schema: for editors.
set(twill_device_schema presets/devices/schema.json)

# Datasheets of the simulated devices, built into the library.
set(twill_device_models
  presets/devices/8800gtx.json
  presets/devices/a100.json
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

set(twill_tool_sources
  src/tool/array_check.cpp
  src/tool/bench_array.cpp
  src/tool/bench_command.cpp
  src/tool/bench_copy.cpp
  src/tool/bench_file.cpp
  src/tool/bench_list.cpp
  src/tool/bench_permute.cpp
  src/tool/bench_plan.cpp
  src/tool/bench_reduce.cpp
  src/tool/bench_run.cpp
  src/tool/bench_table.cpp
  src/tool/bench_transpose.cpp
  src/tool/bench_transpose_in_place.cpp
  src/tool/moved_transpose.cpp
  src/tool/case_runner.cpp
  src/tool/compare_command.cpp
  src/tool/devices_command.cpp
  src/tool/format.cpp
  src/tool/main.cpp
  src/tool/moved_check.cpp
  src/tool/moving_problem.cpp
  src/tool/numbers.cpp
  src/tool/output_file.cpp
  src/tool/parse.cpp
  src/tool/pattern.cpp
  src/tool/profile_command.cpp
  src/tool/profile_svg.cpp
  src/tool/profile_text.cpp
  src/tool/progress.cpp
  src/tool/reference.cpp
  src/tool/report_file.cpp
  src/tool/source_text.cpp
  src/tool/statistics.cpp
  src/tool/table.cpp
  src/tool/timing.cpp
  src/tool/transpose_check.cpp
  src/tool/working_set.cpp)

set(twill_tests
  tests/array_ladder_test.cpp
  tests/buffer_test.cpp
  tests/copy_test.cpp
  tests/device_test.cpp
  tests/element_test.cpp
  tests/every_kernel_test.cpp
  tests/permute_test.cpp
  tests/profile_claims_test.cpp
  tests/profile_test.cpp
  tests/random_test.cpp
  tests/reduce_columns_test.cpp
  tests/reduce_ladder_test.cpp
  tests/reduce_order_test.cpp
  tests/reduce_rows_test.cpp
  tests/reduce_test.cpp
  tests/reverse_test.cpp
  tests/scan_test.cpp
  tests/simt_checks_test.cpp
  tests/simt_choices_test.cpp
  tests/simt_counts_test.cpp
  tests/sieve_test.cpp
  tests/simt_faults_test.cpp
  tests/simt_host_test.cpp
  tests/simt_kernels_test.cpp
  tests/simt_models_test.cpp
  tests/simt_prediction_test.cpp
  tests/simt_rules_test.cpp
  tests/simt_scan_test.cpp
  tests/simt_schema_test.cpp
  tests/simt_test.cpp
  tests/stream_test.cpp
  tests/transpose_batch_test.cpp
  tests/transpose_in_place_test.cpp
  tests/transpose_ladder_test.cpp
  tests/transpose_test.cpp)

set(twill_benchmarks
  tests/bench/simt_launch_bench.cpp
  tests/bench/transpose_bench.cpp)
set(twill_grid_sources
  tests/bench/grid/cells.cpp
  tests/bench/grid/main.cpp
  tests/bench/grid/measure.cpp
  tests/bench/grid/plot.cpp
  tests/bench/grid/report.cpp)

# What a folder holds and no list names is a mistake: it would neither be built nor tested.
function(twill_check_lists)
  set(listed ${twill_headers} ${twill_core_sources} ${twill_kernel_sources} ${twill_gpu_sources} ${twill_host_sources}
      ${twill_cub_sources} ${twill_device_schema}
      ${twill_cpu_sources} ${twill_simt_sources} ${twill_device_models} ${twill_tool_sources} ${twill_tests}
      ${twill_benchmarks})
  file(GLOB_RECURSE there RELATIVE "${TWILL_ROOT}" "${TWILL_ROOT}/include/*.hpp" "${TWILL_ROOT}/src/*.cpp"
       "${TWILL_ROOT}/backends/*.cpp" "${TWILL_ROOT}/presets/devices/*.json" "${TWILL_ROOT}/tests/*_test.cpp"
       "${TWILL_ROOT}/tests/*_bench.cpp")
  list(REMOVE_ITEM there ${listed})
  if(there)
    list(JOIN there ", " there)
    message(FATAL_ERROR "Not built: ${there} (no list in cmake/sources.cmake names it). Add it there, or delete it.")
  endif()
endfunction()
