# What a folder holds and no list names is a mistake: it would neither be built nor tested.
function(twill_check_lists)
  set(listed ${twill_headers} ${twill_mpi_headers} ${twill_ladder_headers} ${twill_simt_headers} ${twill_common_sources} ${twill_core_sources}
      ${twill_launch_sources} ${twill_vector_sources} ${twill_tool_without_simt_sources} ${twill_tool_fmt_sources} ${twill_tool_mpi_sources} ${twill_tool_without_mpi_sources}
      ${twill_kernel_sources}
      ${twill_gpu_sources} ${twill_host_sources} ${twill_cpu_sources} ${twill_simt_sources} ${twill_ladder_sources}
      ${twill_ladder_kernel_sources} ${twill_ladder_gpu_sources} ${twill_ladder_simt_sources} ${twill_ladder_cub_sources}
      ${twill_ladder_tensor_sources} ${twill_ladder_cpu_sources}
      ${twill_device_schema} ${twill_device_models} ${twill_tool_sources} ${twill_tool_loop_sources} ${twill_tests} tests/mpi/mpi_test.cpp
      tests/mpi/mpi_tuning_test.cpp ${twill_gpu_tests} ${twill_gpu_test_sources})
  file(GLOB_RECURSE there RELATIVE "${TWILL_ROOT}" "${TWILL_ROOT}/include/*.hpp" "${TWILL_ROOT}/src/*.cpp"
       "${TWILL_ROOT}/backends/*.cpp" "${TWILL_ROOT}/presets/devices/*.json" "${TWILL_ROOT}/tests/*_test.cpp")
  list(REMOVE_ITEM there ${listed})
  if(there)
    list(JOIN there ", " there)
    message(FATAL_ERROR "Not built: ${there} (no list in cmake/sources.cmake or cmake/test_sources.cmake names it). Add it there, or delete it.")
  endif()
endfunction()
