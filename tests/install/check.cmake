# Installs BUILD below WORK, moves the installed tree, and builds and runs the applications of this folder against it.
#   cmake -DBUILD=DIR -DWORK=DIR -DBACKENDS="cpu;simt" -DSISTERS="simt;ladder" [-DARGUMENTS=...] -P check.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The devices of this build that every machine has.
set(devices "")
foreach(device IN ITEMS cpu simt)
  if(device IN_LIST BACKENDS)
    list(APPEND devices ${device})
  endif()
endforeach()

# Builds the applications one way and runs them.
function(check way)
  set(folder "${WORK}/${way}")
  string(REPLACE ";" "\\;" sisters "${SISTERS}")  # one argument
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${folder}" -G Ninja -DTWILL_BY=${way}
      "-DTWILL_SISTERS=${sisters}" "-DCMAKE_PREFIX_PATH=${WORK}/moved" ${ARGUMENTS})
  run("${CMAKE_COMMAND}" --build "${folder}")
  run("${folder}/uses_twill")
  run("${folder}/uses_extension" ${devices})
  foreach(application IN ITEMS simulator ladder)
    if(EXISTS "${folder}/uses_${application}")
      run("${folder}/uses_${application}")
    endif()
  endforeach()
  file(READ "${folder}/build.ninja" rules)
  if(NOT "simt" IN_LIST SISTERS AND rules MATCHES "[Bb]oost|json|hwy")
    message(FATAL_ERROR "A library without the simulator needs ${CMAKE_MATCH_0}")
  endif()
endfunction()

# A component that this build lacks is refused with the reason, also by the header that would be its.
function(check_refusal component)
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/component" -B "${WORK}/${component}" -G Ninja
    -DCOMPONENT=${component} "-DCMAKE_PREFIX_PATH=${WORK}/moved" ERROR_VARIABLE text OUTPUT_QUIET RESULT_VARIABLE status)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(status EQUAL 0 OR NOT text MATCHES "without ${component}, with|no component ${component}: there are")
    message(FATAL_ERROR "find_package(Twill COMPONENTS ${component}) does not say why not: ${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/installed")
file(RENAME "${WORK}/installed" "${WORK}/moved")
file(GLOB_RECURSE shared "${WORK}/moved/share/*")
foreach(file IN ITEMS devices/h200.json devices/schema.json devices/README.md schemas/bench.json docs/embed.md
                      docs/defects.md README.md LICENSE)
  if(NOT "${shared};" MATCHES "/${file};")
    message(FATAL_ERROR "The installation lacks ${file}")
  endif()
endforeach()
check(find_package)
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  check(pkg-config)
endif()
foreach(component IN ITEMS cuda hip cpu simt ladder abacus)
  if(NOT component IN_LIST BACKENDS AND NOT component IN_LIST SISTERS)
    check_refusal(${component})
  endif()
endforeach()
if(NOT "simt" IN_LIST SISTERS)
  file(GLOB_RECURSE header "${WORK}/moved/*/twill/simt.hpp")
  file(READ "${header}" text)
  if(NOT text MATCHES "^#error .*TWILL_BACKENDS")
    message(FATAL_ERROR "twill/simt.hpp does not say that it was left out: ${text}")
  endif()
endif()
