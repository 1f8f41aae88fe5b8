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

# Compiled alone: with options of their own, with a large header that no other source needs, or with many kernels.
set(twill_single_sources
  src/reduce/cpu/reduce.cpp
  src/reduce/gpu/complex.cpp
  src/reduce/gpu/floats.cpp
  src/scan/gpu/extremes.cpp
  src/scan/gpu/segment_sums.cpp
  src/tool/command_line.cpp
  src/tool/report.cpp)

# twill_unite(OUT NAME SOURCE...): sources relative to the root as units, each of up to 12 that are listed together and lie
# in one folder; those of twill_single_sources stay alone. What is private to a source, in an unnamed namespace, therefore
# has a name of its own in its folder.
function(twill_unite out name)
  set(units "")
  set(unit "")
  set(unit_folder "")
  foreach(source IN LISTS ARGN ITEMS "")
    get_filename_component(folder "${source}" DIRECTORY)
    list(LENGTH unit count)
    if(NOT TWILL_UNITY OR source STREQUAL "" OR NOT folder STREQUAL unit_folder OR count EQUAL 12)
      twill_write_unit(units "${name}" "${unit}")
      set(unit "")
    endif()
    set(unit_folder "${folder}")
    if(source IN_LIST twill_single_sources)
      list(APPEND units "${TWILL_ROOT}/${source}")
    else()
      list(APPEND unit ${source})
    endif()
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# Appends to the list what compiles these sources. A unit's name tells those of equal targets in a shared folder apart.
function(twill_write_unit list name sources)
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
  set(${list} ${${list}} ${sources} PARENT_SCOPE)
endfunction()
