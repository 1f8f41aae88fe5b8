# Installs BUILD below WORK, moves the installed tree, and builds and runs tests/install against it.
#   cmake -DBUILD=DIR -DWORK=DIR [-DARGUMENTS=...] -P check.cmake

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Builds the application one way and runs it.
function(check way)
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/${way}" -DTWILL_BY=${way}
      "-DCMAKE_PREFIX_PATH=${WORK}/moved" ${ARGUMENTS})
  run("${CMAKE_COMMAND}" --build "${WORK}/${way}")
  run("${WORK}/${way}/uses_twill")
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/installed")
file(RENAME "${WORK}/installed" "${WORK}/moved")
check(find_package)
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  check(pkg-config)
endif()
