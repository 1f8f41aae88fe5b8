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
  foreach(application IN ITEMS simulator static_object ladder)
    if(EXISTS "${folder}/uses_${application}")
      run("${folder}/uses_${application}")
    endif()
  endforeach()
  file(READ "${folder}/build.ninja" rules)
  if(NOT "simt" IN_LIST SISTERS AND rules MATCHES "[Bb]oost|json|hwy")
    message(FATAL_ERROR "A library without the simulator needs ${CMAKE_MATCH_0}")
  endif()
endfunction()

# A project that cannot have Twill is told why; `arguments` are its own, `reason` a pattern.
function(check_refusal name arguments reason)
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/component" -B "${WORK}/${name}" -G Ninja
    ${arguments} "-DCMAKE_PREFIX_PATH=${WORK}/moved" ${ARGUMENTS} ERROR_VARIABLE text OUTPUT_QUIET
    RESULT_VARIABLE status)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(status EQUAL 0 OR NOT text MATCHES "${reason}")
    message(FATAL_ERROR "find_package(Twill), ${arguments}, does not say why not: ${text}")
  endif()
endfunction()

# A linker that drops what a program does not name keeps the simulator, and goes on dropping what comes after it.
function(check_flags)
  file(GLOB_RECURSE description "${WORK}/moved/*/twill-simt.pc")
  get_filename_component(folder "${description}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${folder}")
  execute_process(COMMAND "${pkg_config}" --cflags --libs twill-simt OUTPUT_VARIABLE flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  get_filename_component(libraries "${folder}" DIRECTORY)
  set(compiler ${ARGUMENTS})
  list(FILTER compiler INCLUDE REGEX "^-DCMAKE_CXX_COMPILER=")
  string(REPLACE "-DCMAKE_CXX_COMPILER=" "" compiler "${compiler}")
  if(NOT compiler)
    set(compiler c++)
  endif()
  run("${compiler}" -std=c++17 "${CMAKE_CURRENT_LIST_DIR}/static_object.cpp" -o "${WORK}/as_needed"
      -Wl,--as-needed "-Wl,-rpath,${libraries}" ${flags} -lresolv)
  run("${WORK}/as_needed")
  execute_process(COMMAND readelf -d "${WORK}/as_needed" OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
  if(needed MATCHES "libresolv")
    message(FATAL_ERROR "The flags of twill-simt keep what is linked after them")
  endif()
endfunction()

# Every link of an installed document leads to what is installed.
function(check_links)
  file(GLOB_RECURSE pages "${WORK}/moved/share/*.md")
  foreach(page IN LISTS pages)
    get_filename_component(folder "${page}" DIRECTORY)
    file(READ "${page}" text)
    string(REGEX REPLACE "`[^`]*`" "" text "${text}")  # code
    string(REGEX REPLACE "[];[]" "@" text "${text}")  # which lists would take for their own
    string(REGEX MATCHALL "@\\([^():# \n]+" links "${text}")
    foreach(link IN LISTS links)
      string(SUBSTRING "${link}" 2 -1 link)
      if(NOT EXISTS "${folder}/${link}")
        message(FATAL_ERROR "${page} has a link to ${link}, which is not there")
      endif()
    endforeach()
  endforeach()
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
check_links()
check(find_package)
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  check(pkg-config)
  if("simt" IN_LIST SISTERS)
    check_flags()
  endif()
endif()
check_refusal(without_cxx -DLANGUAGES=C "Twill needs CXX among the project's languages")
foreach(component IN ITEMS cuda hip cpu simt ladder abacus)
  if(NOT component IN_LIST BACKENDS AND NOT component IN_LIST SISTERS)
    check_refusal(${component} -DCOMPONENT=${component}
                  "without ${component}, with|no component ${component}: there are")
  endif()
endforeach()
if(NOT "simt" IN_LIST SISTERS)
  file(GLOB_RECURSE header "${WORK}/moved/*/twill/simt.hpp")
  file(READ "${header}" text)
  if(NOT text MATCHES "^#error .*TWILL_BACKENDS")
    message(FATAL_ERROR "twill/simt.hpp does not say that it was left out: ${text}")
  endif()
endif()
