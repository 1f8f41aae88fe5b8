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

# twill_library(TARGET HEADERS): what the project's libraries have in common. HEADERS names the list of public ones.
function(twill_library target headers)
  add_library(Twill::${target} ALIAS ${target})
  twill_build_options(${target})
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${${headers}})
  # Its threads sleep until the process ends: code of a shared library must stay where it is after dlclose().
  target_link_options(${target} PRIVATE "$<$<STREQUAL:$<TARGET_PROPERTY:${target},TYPE>,SHARED_LIBRARY>:LINKER:-z,nodelete>")
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# twill_hook_kernels(SOURCE...): compiles sources with simulated kernels so that a call precedes each memory access
# (backends/simt/hooks.hpp); with line tables, by which places in the code are told. Sources are relative to the root;
# called where their target is made.
function(twill_hook_kernels)
  if(TWILL_SANITIZE)
    return()  # compilers do not mix the two
  endif()
  list(TRANSFORM ARGN PREPEND "${TWILL_ROOT}/" OUTPUT_VARIABLE sources)
  set(flags -fsanitize=thread -g1 -fno-optimize-sibling-calls -include "${TWILL_ROOT}/backends/simt/hooks.hpp")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Each access of the source shall stay one access of the program, at one place.
    list(APPEND flags --param=tsan-instrument-func-entry-exit=0 -fno-tree-vectorize -fno-tree-slp-vectorize
         -fno-crossjumping -fno-tree-tail-merge -Wno-tsan)
  else()
    list(APPEND flags -mllvm -tsan-instrument-func-entry-exit=0 -fno-vectorize -fno-slp-vectorize)
  endif()
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS ${flags})
endfunction()

# twill_add_objects(TARGET BACKEND LANGUAGE SOURCE...): sources compiled for one backend, as an OBJECT library. Sources are
# relative to the root. Called in backends/BACKEND, because a source's LANGUAGE belongs to a folder.
function(twill_add_objects target backend language)
  list(TRANSFORM ARGN PREPEND "${TWILL_ROOT}/" OUTPUT_VARIABLE sources)
  add_library(${target} OBJECT ${sources})
  if(NOT language STREQUAL "CXX")
    set_source_files_properties(${sources} PROPERTIES LANGUAGE ${language})
  endif()
  target_include_directories(${target} PRIVATE "${TWILL_ROOT}/backends/${backend}")
  twill_build_options(${target})
  target_compile_definitions(${target} PRIVATE TWILL_BACKEND=${backend})
  # Products of complex numbers have the same bits everywhere: no compiler may contract a multiplication and an addition.
  set_source_files_properties("${TWILL_ROOT}/src/reduce/gpu/complex.cpp" "${TWILL_ROOT}/src/reduce/gpu/floats.cpp"
    "${TWILL_ROOT}/src/reduce/cpu/reduce.cpp" PROPERTIES COMPILE_OPTIONS
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-fmad=false>;$<$<COMPILE_LANGUAGE:CXX,HIP>:-ffp-contract=off>")
endfunction()
