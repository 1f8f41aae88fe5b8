# Translation units of several sources. What a compiler does once for each unit (headers; of nvcc, six programs) is a
# fifth of the time of a build whose units are single sources. CMake's UNITY_BUILD knows neither CUDA (before 3.31) nor
# HIP.

option(TWILL_UNITY "Compile sources in groups: a build takes less time, a change of one source more" ON)

# Where units are written. ccache knows an object again by the path of its source: builds that share ccache's objects share
# this folder.
set(TWILL_UNITS "${PROJECT_BINARY_DIR}/units")
if(NOT "$ENV{TWILL_UNITS}" STREQUAL "")
  set(TWILL_UNITS "$ENV{TWILL_UNITS}")
endif()

# Compiled alone: with options of their own, or with a large header that no other source needs.
set(twill_single_sources
  src/reduce/cpu/reduce.cpp
  src/tool/command_line.cpp
  src/tool/report.cpp)

# Products of complex numbers have the same bits everywhere: no compiler may contract a multiplication and an addition.
set(twill_exact_sources
  src/reduce/cpu/reduce.cpp
  src/reduce/gpu/floats.cpp)
set(twill_exact_options
  "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-fmad=false>;$<$<COMPILE_LANGUAGE:CXX,HIP>:-ffp-contract=off>")

# The readers of datasheets: text, and a large header.
set(twill_text_sources
  backends/simt/link_sheet.cpp
  backends/simt/models.cpp
  backends/simt/timing_sheet.cpp)
set(twill_text_options "$<$<CONFIG:Release>:-Og>")

# Folders with much to compile or optimise, up to 12 kernels a unit. All other folders of a target are as if they were one, up
# to 24 sources a unit: there the headers take half of the time.
set(twill_kernel_folders src/move/gpu src/move/cpu src/reduce/gpu src/scan/gpu src/ladder/gpu)

# twill_unite(OUT NAME SOURCE...): sources relative to the root as units, each of the same options; those of
# twill_single_sources stay alone. What is private to a source, in an unnamed namespace, therefore has a name of its own in
# its target.
function(twill_unite out name)
  set(units "")
  set(groups "")
  foreach(source IN LISTS ARGN)
    twill_group_of(group "${source}")
    list(APPEND groups "${group}")
    list(APPEND "sources of ${group}" "${source}")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(name_of_list "sources of ${group}")
    set(left ${${name_of_list}})
    set(most 24)
    if(group MATCHES "/gpu")
      set(most 12)
    endif()
    while(left)
      list(SUBLIST left 0 ${most} unit)
      list(REMOVE_ITEM left ${unit})
      twill_write_unit(unit "${name}" "${unit}")
      if(group MATCHES " (exact|text)$")
        set_property(SOURCE "${unit}" APPEND PROPERTY COMPILE_OPTIONS "${twill_${CMAKE_MATCH_1}_options}")
      endif()
      list(APPEND units "${unit}")
    endwhile()
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# Sources of the same group may be compiled together.
function(twill_group_of out source)
  get_filename_component(group "${source}" DIRECTORY)
  if(NOT group IN_LIST twill_kernel_folders)
    set(group others)
  endif()
  if(source IN_LIST twill_single_sources OR NOT TWILL_UNITY)
    set(group "${source}")
  endif()
  if(source IN_LIST twill_exact_sources)
    string(APPEND group " exact")
  elseif(source IN_LIST twill_text_sources)
    string(APPEND group " text")
  endif()
  set(${out} "${group}" PARENT_SCOPE)
endfunction()

# The path of what compiles these sources. A unit's name tells those of equal targets in a shared folder apart.
function(twill_write_unit out name sources)
  list(LENGTH sources count)
  list(TRANSFORM sources PREPEND "${TWILL_ROOT}/")
  if(count GREATER 1)
    list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN sources "" text)
    string(SHA1 hash "${text}")
    string(SUBSTRING "${hash}" 0 8 hash)
    set(sources "${TWILL_UNITS}/${name}_${hash}.cpp")
    set(written "")
    if(EXISTS "${sources}")
      file(READ "${sources}" written)
    endif()
    if(NOT "${written}" STREQUAL "${text}")
      file(WRITE "${sources}" "${text}")
    endif()
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
