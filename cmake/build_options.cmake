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
    "$<${nvcc}:-Xfatbin=-compress-all>"  # machine code too, to a fifth of its size
    "$<$<AND:${nvcc},$<CONFIG:RelWithDebInfo>>:-lineinfo>")
  target_compile_features(${target} PRIVATE cxx_std_17)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CUDA_STANDARD 17 CUDA_EXTENSIONS OFF HIP_STANDARD 17 HIP_EXTENSIONS OFF)
  # Symbols are hidden but for what a header marks; no path of this machine is left in what is built.
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden HIP_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  foreach(map IN ITEMS "${TWILL_ROOT}/=" "${PROJECT_BINARY_DIR}=build")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX,HIP>:-ffile-prefix-map=${map}>")
    if(NOT CMAKE_CUDA_COMPILER_LAUNCHER)  # ccache makes paths relative itself, and would miss on another folder's
      target_compile_options(${target} PRIVATE "$<${nvcc}:-Xcompiler=-ffile-prefix-map=${map}>")
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE
    "${TWILL_ROOT}/include" "${TWILL_ROOT}/src" "${TWILL_ROOT}")
  if(TWILL_SANITIZE)
    list(JOIN TWILL_SANITIZE "," kinds)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${kinds};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
    target_link_options(${target} PRIVATE -fsanitize=${kinds})
  endif()
  if(TWILL_COVERAGE)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:--coverage;-fprofile-update=atomic;-g1>")
    target_link_options(${target} PUBLIC --coverage)  # of applications of a counted library, too
  endif()
endfunction()

# twill_add_copies(TARGET OBJECTS...): what a sister library uses of libtwill beyond its API. A shared libtwill does not
# export it, so that each has a copy.
function(twill_add_copies target)
  if(BUILD_SHARED_LIBS)
    foreach(objects IN LISTS ARGN)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endforeach()
  endif()
endfunction()

# twill_library(TARGET HEADERS): what the project's libraries have in common. HEADERS names the list of public ones.
function(twill_library target headers)
  add_library(Twill::${target} ALIAS ${target})
  twill_build_options(${target})
  target_compile_features(${target} PUBLIC cxx_std_17)
  list(TRANSFORM ${headers} PREPEND "${TWILL_ROOT}/" OUTPUT_VARIABLE files)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${TWILL_ROOT}/include" FILES ${files})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    DEFINE_SYMBOL ""
    BUILD_RPATH_USE_ORIGIN ON
    POSITION_INDEPENDENT_CODE ${TWILL_PIC}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(BUILD_SHARED_LIBS)
    # Its threads sleep until the process ends: code of a shared library must stay where it is after dlclose(). Nothing is
    # exported of the standard library and of static libraries.
    target_link_options(${target} PRIVATE LINKER:-z,nodelete
                        "LINKER:--version-script=${TWILL_ROOT}/cmake/exports.map")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${TWILL_ROOT}/cmake/exports.map")
  endif()
endfunction()

# twill_hook_flags(OUT): the options with which a call precedes each memory access of a simulated kernel
# (backends/simt/hooks.hpp); with line tables, which map accesses to source lines.
function(twill_hook_flags out)
  set(${out} "" PARENT_SCOPE)
  if(TWILL_SANITIZE OR TWILL_COVERAGE)
    return()  # compilers do not mix the two
  endif()
  set(flags -fsanitize=thread -g1 -fno-optimize-sibling-calls -include "${TWILL_ROOT}/backends/simt/hooks.hpp")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Each access of the source shall stay one access of the program, at one place.
    list(APPEND flags --param=tsan-instrument-func-entry-exit=0 -fno-tree-vectorize -fno-tree-slp-vectorize
         -fno-crossjumping -fno-tree-tail-merge -Wno-tsan)
    # The calls take most of the time of a simulated kernel. These passes, which come after they are placed, make it little
    # faster, but take a quarter of the time to compile it.
    list(APPEND flags -fno-tree-loop-optimize -fno-tree-slsr -fno-split-paths -fno-gcse -fno-rerun-cse-after-loop
         -fno-forward-propagate -fno-move-loop-invariants -fno-dce -fno-dse -fno-if-conversion -fno-ree
         -fno-cprop-registers -fno-ipa-ra -fno-schedule-insns2)
  else()
    list(APPEND flags -mllvm -tsan-instrument-func-entry-exit=0 -fno-vectorize -fno-slp-vectorize)
  endif()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# twill_add_objects(TARGET BACKEND LANGUAGE SOURCE...): sources compiled for one backend, or for "none", as an OBJECT library. Sources are
# relative to the root. Called in backends/BACKEND, because a source's LANGUAGE belongs to a folder.
function(twill_add_objects target backend language)
  twill_unite(sources ${target} ${ARGN})
  add_library(${target} OBJECT ${sources})
  if(NOT language STREQUAL "CXX")
    set_source_files_properties(${sources} PROPERTIES LANGUAGE ${language})
  endif()
  twill_build_options(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ${TWILL_PIC})
  if(NOT backend STREQUAL "none")
    target_include_directories(${target} BEFORE PRIVATE "${TWILL_ROOT}/backends/${backend}")
    target_compile_definitions(${target} PRIVATE TWILL_BACKEND=${backend})
  endif()
endfunction()

# twill_add_gpu_objects(BACKEND LANGUAGE RUNG_SOURCE...): what cuda and hip have in common, and rungs that not every build of
# a backend has; the caller defines what adds them to its ladders. A launch belongs to the library that holds the kernel, and
# to its copy of a static runtime.
function(twill_add_gpu_objects backend language)
  twill_add_objects(twill_${backend}_objects ${backend} ${language} ${twill_kernel_sources} ${twill_gpu_sources})
  twill_add_objects(twill_${backend}_launch_objects ${backend} ${language} ${twill_launch_sources})
  set(all twill_${backend}_objects twill_${backend}_launch_objects)
  foreach(objects IN LISTS all)
    target_sources(twill PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  if(TWILL_BUILD_LADDER)
    twill_add_objects(twill_ladder_${backend}_objects ${backend} ${language}
      ${twill_ladder_kernel_sources} ${twill_ladder_gpu_sources} ${ARGN})
    target_sources(twill_ladder PRIVATE $<TARGET_OBJECTS:twill_ladder_${backend}_objects>)
    twill_add_copies(twill_ladder twill_${backend}_launch_objects)
    list(APPEND all twill_ladder_${backend}_objects)
  endif()
  if(TWILL_BUILD_TESTS)
    twill_add_objects(twill_test_${backend}_objects ${backend} ${language} ${twill_gpu_test_sources})
    list(APPEND all twill_test_${backend}_objects)
  endif()
  foreach(objects IN LISTS all)
    target_include_directories(${objects} PRIVATE "${TWILL_ROOT}/backends/gpu")
  endforeach()
endfunction()
