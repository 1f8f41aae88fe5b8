# How every target of the project is compiled.

# twill_build_options(TARGET): the language standard, warnings, sanitizers, and the project's own include folders.
function(twill_build_options target)
  set(nvcc "$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>")
  set(warnings -Wall -Wextra)
  set(cuda_warnings -Xcompiler=-Wall,-Wextra -Wno-deprecated-gpu-targets)
  if(TWILL_WERROR)
    list(APPEND warnings -Werror)
    list(APPEND cuda_warnings -Werror=all-warnings -Xcompiler=-Werror)
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX,HIP>:${warnings}>"
    "$<${nvcc}:${cuda_warnings}>"
    "$<$<AND:${nvcc},$<CONFIG:RelWithDebInfo>>:-lineinfo>")
  target_compile_features(${target} PRIVATE cxx_std_17)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CUDA_STANDARD 17 CUDA_EXTENSIONS OFF HIP_STANDARD 17 HIP_EXTENSIONS OFF)
  target_include_directories(${target} PRIVATE
    "${TWILL_ROOT}/include" "${TWILL_ROOT}/src" "${TWILL_ROOT}")
  if(TWILL_SANITIZE)
    list(JOIN TWILL_SANITIZE "," kinds)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${kinds};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
    target_link_options(${target} PRIVATE -fsanitize=${kinds})
  endif()
endfunction()

# twill_add_backend(NAME LANGUAGE SOURCE...): the part of the library that backend NAME is, as an OBJECT library.
# Sources are relative to the root. Called in backends/NAME, because a source's LANGUAGE belongs to a folder.
function(twill_add_backend name language)
  list(TRANSFORM ARGN PREPEND "${TWILL_ROOT}/" OUTPUT_VARIABLE sources)
  add_library(twill_${name} OBJECT ${sources})
  if(NOT language STREQUAL "CXX")
    set_source_files_properties(${sources} PROPERTIES LANGUAGE ${language})
  endif()
  target_include_directories(twill_${name} PRIVATE "${TWILL_ROOT}/backends/${name}")
  twill_build_options(twill_${name})
  target_compile_definitions(twill_${name} PRIVATE TWILL_BACKEND=${name})
endfunction()
