# Twill::hip_runtime: AMD's HIP runtime library. Used by the build, and by find_package(Twill) for a static library.

if(NOT TARGET Twill::hip_runtime)
  find_library(TWILL_HIP_RUNTIME amdhip64
    HINTS "$ENV{ROCM_PATH}/lib" "${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib" /opt/rocm/lib)
  mark_as_advanced(TWILL_HIP_RUNTIME)
  if(TWILL_HIP_RUNTIME)
    add_library(Twill::hip_runtime UNKNOWN IMPORTED)
    set_target_properties(Twill::hip_runtime PROPERTIES IMPORTED_LOCATION "${TWILL_HIP_RUNTIME}")
  endif()
endif()
