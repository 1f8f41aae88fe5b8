# The package that CMake's HIP language asks for, for distributions that keep theirs in a multiarch folder, where CMake
# 3.25 does not look. cmake/hip.cmake names this folder as the ROCm root when there is no stock ROCm.

if(NOT TARGET hip-lang::device)
  find_library(twill_amdhip64 amdhip64 NO_CACHE)
  if(NOT twill_amdhip64)  # inside CMake's own compiler checks no multiarch folder is known
    file(GLOB twill_amdhip64 "/usr/lib/*/libamdhip64.so")
  endif()
  add_library(hip-lang::amdhip64 UNKNOWN IMPORTED)
  set_target_properties(hip-lang::amdhip64 PROPERTIES IMPORTED_LOCATION "${twill_amdhip64}")
  add_library(hip-lang::host INTERFACE IMPORTED)
  set_target_properties(hip-lang::host PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)
  add_library(hip-lang::device INTERFACE IMPORTED)
  set(twill_inline_all "SHELL:-mllvm -amdgpu-early-inline-all=true -mllvm -amdgpu-function-calls=false")
  set_target_properties(hip-lang::device PROPERTIES
    INTERFACE_LINK_LIBRARIES hip-lang::host
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:HIP>:${twill_inline_all}>"
    INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link>")
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
