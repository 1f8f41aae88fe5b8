# Enables the language CUDA: finds an nvcc that can target what is asked for, a host compiler that it takes, and the
# architectures of this machine when none are given. Included once, by the root.

include(architectures)

# The release of an nvcc, "11.8"; empty when it is not NVIDIA's.
function(twill_cuda_release out nvcc)
  execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE text ERROR_QUIET)
  set(release "")
  if(text MATCHES "Cuda compilation tools, release ([0-9.]+)")
    set(release ${CMAKE_MATCH_1})
  endif()
  set(${out} "${release}" PARENT_SCOPE)
endfunction()

# HIP's headers of 5.x use what CUDA 12 removed, those of 6.x what CUDA 13 removed. Empty when all is well.
function(twill_hip_nvidia_problem out version)
  set(problem "")
  if(TWILL_HIP_ON_NVIDIA AND TWILL_HIP_VERSION VERSION_LESS 6 AND version VERSION_GREATER 11.8)
    set(problem "HIP ${TWILL_HIP_VERSION} on NVIDIA needs CUDA 11.8 or older")
  elseif(TWILL_HIP_ON_NVIDIA AND TWILL_HIP_VERSION VERSION_LESS 7 AND version VERSION_GREATER_EQUAL 13)
    set(problem "HIP ${TWILL_HIP_VERSION} on NVIDIA needs CUDA 12.9 or older")
  endif()
  set(${out} "${problem}" PARENT_SCOPE)
endfunction()

# Every nvcc that may be used, best first: what the user named, or else what is found.
function(twill_nvcc_candidates out)
  set(named "${CMAKE_CUDA_COMPILER}")
  if(NOT named)
    set(named "$ENV{CUDACXX}")
  endif()
  if(named)
    find_program(twill_named_nvcc "${named}" NO_CACHE)
    if(NOT twill_named_nvcc)
      message(FATAL_ERROR "There is no CUDA compiler ${named} (named by CMAKE_CUDA_COMPILER or CUDACXX). Name another.")
    endif()
    set(${out} "${twill_named_nvcc}" PARENT_SCOPE)
    return()
  endif()
  find_program(twill_path_nvcc nvcc NO_CACHE)
  set(candidates "")
  if(twill_path_nvcc)
    set(candidates "${twill_path_nvcc}")
  endif()
  foreach(root IN ITEMS "$ENV{CUDA_PATH}" "${CUDAToolkit_ROOT}" /usr/local/cuda /opt/cuda
          "${TWILL_TOOLCHAINS}/cuda-13" "${TWILL_TOOLCHAINS}/cuda-11.8")
    if(root AND EXISTS "${root}/bin/nvcc")
      list(APPEND candidates "${root}/bin/nvcc")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES candidates)
  set(${out} "${candidates}" PARENT_SCOPE)
endfunction()

# The first candidate that can target `architectures`, or a stop that says why the first one cannot.
function(twill_choose_nvcc out_nvcc out_version architectures)
  twill_nvcc_candidates(candidates)
  if(NOT candidates)
    message(FATAL_ERROR "The backend needs nvcc, and there is none (looked on PATH, in /usr/local/cuda and in "
      "${TWILL_TOOLCHAINS}). Run scripts/toolchain-cuda-13, or scripts/toolchain-cuda-11.8 for sm_35 to sm_70 and for "
      "HIP on NVIDIA, then configure again.")
  endif()
  foreach(nvcc IN LISTS candidates)
    twill_cuda_release(version "${nvcc}")
    twill_hip_nvidia_problem(problem "${version}")
    if(NOT problem)
      twill_cuda_problem(problem "${version}" "${architectures}")
    endif()
    if(NOT version OR NOT problem)
      set(${out_nvcc} "${nvcc}" PARENT_SCOPE)
      set(${out_version} "${version}" PARENT_SCOPE)
      return()
    elseif(NOT first_problem)
      set(first_problem "${problem}; ${nvcc} is ${version}.")
    endif()
  endforeach()
  twill_cuda_advice(advice "${first_problem}")
  message(FATAL_ERROR "${first_problem} ${advice}")
endfunction()

# The host compiler for CUDA `version`: empty where the C++ compiler of the project will do.
function(twill_choose_cuda_host out version)
  set(${out} "" PARENT_SCOPE)
  twill_cuda_newest_gcc(newest "${version}")
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR newest STREQUAL "" OR major LESS_EQUAL newest)
    return()
  endif()
  foreach(release RANGE ${newest} 8 -1)
    find_program(host g++-${release} NO_CACHE)
    if(host)
      set(${out} "${host}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "nvcc ${version} takes g++ ${newest} or older as its host compiler; this is g++ ${major}. "
    "Install g++-${newest}, or name one with -DCMAKE_CUDA_HOST_COMPILER=PATH.")
endfunction()

# The architectures of the GPUs here; without one, code that the driver compiles for its GPU at first use.
function(twill_detect_cuda_architectures out)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE text RESULT_VARIABLE status ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${text}")
  if(status EQUAL 0 AND found)
    list(REMOVE_DUPLICATES found)
    list(TRANSFORM found REPLACE "\\." "")
  else()
    set(found 75-virtual)
    message(STATUS "nvidia-smi lists no GPU here: building PTX for sm_75 and newer, which the driver compiles at "
      "first use. Name another with CMAKE_CUDA_ARCHITECTURES.")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

set(twill_cuda_asked "${CMAKE_CUDA_ARCHITECTURES}")
if(NOT "$ENV{CUDAARCHS}" STREQUAL "" AND NOT twill_cuda_asked)
  set(twill_cuda_asked "$ENV{CUDAARCHS}")
endif()
if(NOT twill_cuda_asked)
  twill_detect_cuda_architectures(twill_cuda_asked)
endif()
twill_choose_nvcc(twill_nvcc twill_nvcc_version "${twill_cuda_asked}")
if(NOT CMAKE_CUDA_HOST_COMPILER AND "$ENV{CUDAHOSTCXX}" STREQUAL "")
  twill_choose_cuda_host(twill_cuda_host "${twill_nvcc_version}")
endif()

# Kept only now that everything fits: a stop above leaves no trace in the cache.
set(CMAKE_CUDA_COMPILER "${twill_nvcc}" CACHE FILEPATH "nvcc")
set(CMAKE_CUDA_ARCHITECTURES "${twill_cuda_asked}" CACHE STRING "Architectures of the CUDA code")
if(twill_cuda_host)
  set(CMAKE_CUDA_HOST_COMPILER "${twill_cuda_host}" CACHE FILEPATH "Host compiler of nvcc")
endif()
enable_language(CUDA)
include("${CMAKE_CURRENT_LIST_DIR}/cuda_toolkit.cmake")
if(NOT CUDAToolkit_FOUND)
  message(FATAL_ERROR "nvcc is ${CMAKE_CUDA_COMPILER}, but no toolkit was found around it. Name it with CUDAToolkit_ROOT.")
endif()
message(STATUS "CUDA ${twill_nvcc_version} for ${CMAKE_CUDA_ARCHITECTURES}: ${CMAKE_CUDA_COMPILER}")

# CUB, which comes with the toolkit, is a reference rung; the library itself does not use it.
find_path(TWILL_CUB_INCLUDE cub/device/device_scan.cuh HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES cccl
  NO_DEFAULT_PATH)
mark_as_advanced(TWILL_CUB_INCLUDE)

# twill_add_rungs(TARGET SOURCE...): rungs that not every build of a backend has. The caller defines what adds them to its
# ladders.
function(twill_add_rungs target)
  twill_unite(sources ${target} ${ARGN})
  set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  target_sources(${target} PRIVATE ${sources})
endfunction()
