# Which toolkit can target which architecture: asked before a language is enabled, so that the answer is one sentence
# and not a wall of compiler errors.

# First and last CUDA release for each sm; "-" is a last one that is not known yet.
set(twill_cuda_releases
  "10 1.0 6.5" "11 1.0 6.5" "12 1.0 6.5" "13 2.0 6.5" "20 3.0 8.0" "21 3.1 8.0" "30 5.0 10.2" "32 6.0 10.2"
  "35 5.0 11.8" "37 6.5 11.8" "50 6.5 12.9" "52 6.5 12.9" "53 6.5 12.9" "60 8.0 12.9" "61 8.0 12.9" "62 8.0 12.9"
  "70 9.0 12.9" "72 9.2 12.9" "75 10.0 -" "80 11.0 -" "86 11.1 -" "87 11.4 -" "88 13.0 -" "89 11.8 -" "90 11.8 -"
  "100 12.8 -" "101 12.8 12.9" "103 12.9 -" "110 13.0 -" "120 12.8 -" "121 12.9 -")

# First major version of clang for each gfx; those not named came before clang 15. (LLVM 15 and 16 know gfx11 in name;
# AMD's own 15 and 16 do compile for it.)
set(twill_clang_releases
  "940 16" "941 17" "942 17" "950 20" "1100 17" "1101 17" "1102 17" "1103 17" "1150 18" "1151 18" "1152 19"
  "1200 19" "1201 19")

# Newest g++ that each CUDA release takes as its host compiler: the first line that is not newer than the release.
set(twill_cuda_host_compilers "13.0 15" "12.8 14" "12.4 13" "12.0 12" "11.5 11" "11.1 10" "11.0 9")

# What keeps CUDA `version` from targeting all of `architectures` (as in CMAKE_CUDA_ARCHITECTURES); empty if nothing.
function(twill_cuda_problem out version architectures)
  set(problem "")
  foreach(architecture IN LISTS architectures)
    string(REGEX MATCH "^[0-9]+" sm "${architecture}")
    foreach(line IN LISTS twill_cuda_releases)
      separate_arguments(line)
      list(GET line 0 known)
      list(GET line 1 first)
      list(GET line 2 last)
      if(NOT sm STREQUAL known)
        continue()
      elseif(version VERSION_LESS first)
        set(problem "sm_${sm} needs CUDA ${first} or newer")
      elseif(NOT last STREQUAL "-" AND version VERSION_GREATER last)
        set(problem "sm_${sm} needs CUDA ${last} or older")
      endif()
    endforeach()
  endforeach()
  set(${out} "${problem}" PARENT_SCOPE)
endfunction()

# What the user can do about a `problem` that twill_cuda_problem found.
function(twill_cuda_advice out problem)
  set(advice "Run scripts/toolchain-cuda-13, then configure again.")
  if(problem MATCHES "CUDA ([0-9.]+) or older" AND CMAKE_MATCH_1 VERSION_LESS 11)
    set(advice "No toolkit for it has C++17. Use a simulated device instead: the preset gtx280.")
  elseif(problem MATCHES "or older")
    set(advice "Run scripts/toolchain-cuda-11.8, then configure again.")
  endif()
  set(${out} "${advice} (An nvcc of your own: -DCMAKE_CUDA_COMPILER=PATH, or the environment variable CUDACXX.)"
      PARENT_SCOPE)
endfunction()

# The major version of g++ that CUDA `version` takes at most; empty where any will do.
function(twill_cuda_newest_gcc out version)
  set(newest "")
  foreach(line IN LISTS twill_cuda_host_compilers)
    separate_arguments(line)
    list(GET line 0 release)
    if(version VERSION_GREATER_EQUAL release)
      list(GET line 1 newest)
      break()
    endif()
  endforeach()
  set(${out} "${newest}" PARENT_SCOPE)
endfunction()

# The oldest major version of clang that targets all of `architectures` (as in CMAKE_HIP_ARCHITECTURES), at least 15,
# and the architecture that asks for it. `rocm` is true for AMD's own compiler.
function(twill_oldest_clang out_version out_architecture architectures rocm)
  set(oldest 15)
  list(GET architectures 0 reason)
  foreach(architecture IN LISTS architectures)
    string(REGEX REPLACE "^gfx|:.*$" "" gfx "${architecture}")
    foreach(line IN LISTS twill_clang_releases)
      separate_arguments(line)
      list(GET line 0 known)
      list(GET line 1 first)
      if(rocm AND gfx MATCHES "^110.$")
        continue()
      elseif(gfx STREQUAL known AND first GREATER oldest)
        set(oldest ${first})
        set(reason ${architecture})
      endif()
    endforeach()
  endforeach()
  set(${out_version} ${oldest} PARENT_SCOPE)
  set(${out_architecture} ${reason} PARENT_SCOPE)
endfunction()
