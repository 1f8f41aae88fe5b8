# Install rules: libraries, headers, command, CMake package, pkg-config files, datasheets and documents. The installed tree
# can be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(twill_package "${CMAKE_INSTALL_LIBDIR}/cmake/Twill")

list(JOIN TWILL_BACKENDS " " twill_parts_text)
if(TARGET twill_ladder)
  string(APPEND twill_parts_text " and ladder")
endif()

# Only a static library passes on what it needs.
set(twill_dependencies "")
set(twill_pc_libs "")
set(twill_simt_needs_boost FALSE)
if(NOT BUILD_SHARED_LIBS)
  string(APPEND twill_dependencies "find_dependency(Threads)\n")
  set(twill_simt_needs_boost TRUE)
  set(twill_pc_libs " -pthread -ldl")
  if("CUDA::cudart_static" IN_LIST twill_libraries)
    string(APPEND twill_dependencies "include(\"\${CMAKE_CURRENT_LIST_DIR}/cuda_toolkit.cmake\")\n"
      "if(NOT CUDAToolkit_FOUND)\n  find_dependency(CUDAToolkit)\nendif()\n")
    install(FILES "${TWILL_ROOT}/cmake/cuda_toolkit.cmake" DESTINATION "${twill_package}")
    string(APPEND twill_pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
  endif()
  if("Twill::hip_runtime" IN_LIST twill_libraries)
    string(APPEND twill_dependencies "include(\"\${CMAKE_CURRENT_LIST_DIR}/hip_runtime.cmake\")\n")
    get_filename_component(twill_hip_folder "${TWILL_HIP_RUNTIME}" DIRECTORY)
    string(APPEND twill_pc_libs " -L${twill_hip_folder} -lamdhip64")
    install(FILES "${TWILL_ROOT}/cmake/hip_runtime.cmake" DESTINATION "${twill_package}")
  endif()
endif()

if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(twill_compatibility SameMinorVersion)
else()
  set(twill_compatibility SameMajorVersion)
endif()
configure_package_config_file("${TWILL_ROOT}/cmake/TwillConfig.cmake.in" "${PROJECT_BINARY_DIR}/TwillConfig.cmake"
  INSTALL_DESTINATION "${twill_package}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TwillConfigVersion.cmake" COMPATIBILITY ${twill_compatibility})
install(FILES "${PROJECT_BINARY_DIR}/TwillConfig.cmake" "${PROJECT_BINARY_DIR}/TwillConfigVersion.cmake"
        DESTINATION "${twill_package}")

file(RELATIVE_PATH twill_pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file("${TWILL_ROOT}/cmake/twill.pc.in" "${PROJECT_BINARY_DIR}/twill.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/twill.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(TARGETS twill EXPORT TwillTargets FILE_SET HEADERS)
install(EXPORT TwillTargets NAMESPACE Twill:: DESTINATION "${twill_package}")

# twill_install_sister(SISTER DESCRIPTION REQUIRES LIBS)
function(twill_install_sister sister sister_description sister_requires sister_libs)
  configure_file("${TWILL_ROOT}/cmake/sister.pc.in" "${PROJECT_BINARY_DIR}/twill-${sister}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/twill-${sister}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  install(TARGETS twill_${sister} EXPORT Twill_${sister} FILE_SET HEADERS)
  install(EXPORT Twill_${sister} NAMESPACE Twill:: DESTINATION "${twill_package}" FILE Twill_${sister}_targets.cmake)
endfunction()

# twill_install_reasons(SISTER ADVICE HEADER...): in place of headers of a library that this build has not, a line that
# says so.
function(twill_install_reasons sister advice)
  foreach(file IN LISTS ARGN)
    string(REGEX REPLACE "^include/" "" header "${file}")
    configure_file("${TWILL_ROOT}/cmake/missing_header.hpp.in" "${PROJECT_BINARY_DIR}/missing/${header}" @ONLY)
    get_filename_component(folder "${header}" DIRECTORY)
    install(FILES "${PROJECT_BINARY_DIR}/missing/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
  endforeach()
endfunction()

set(twill_ladder_requires twill)
if(TARGET twill_simt)
  # One word, which no tool takes apart, with its path, as CMake's pkg_check_modules drops -L.
  set(libs "-Wl,--push-state,--no-as-needed,\${libdir}/libtwill_simt.so,--pop-state")
  if(NOT BUILD_SHARED_LIBS)
    set(libs "-ltwill_simt -Wl,-u,twill_simt_is_linked -lboost_context")
    set(twill_ladder_requires "twill-simt twill")
  endif()
  twill_install_sister(simt "Simulated GPUs for Twill" twill "${libs}")
else()
  twill_install_reasons(simt "add simt to TWILL_BACKENDS" ${twill_simt_headers})
endif()
if(TARGET twill_ladder)
  twill_install_sister(ladder "The teaching ladders of Twill" "${twill_ladder_requires}" "-ltwill_ladder")
else()
  twill_install_reasons(ladder "switch on TWILL_BUILD_LADDER" ${twill_ladder_headers})
endif()

if(TARGET twill_tool)
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH twill_rpath "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_target_properties(twill_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${twill_rpath}")
  endif()
  install(TARGETS twill_tool)
endif()
if(BUILD_SHARED_LIBS)
  foreach(sister IN LISTS twill_sisters)  # beside libtwill
    set_target_properties(twill_${sister} PROPERTIES INSTALL_RPATH "$ORIGIN")
  endforeach()
endif()

install(FILES "${TWILL_ROOT}/LICENSE" "${TWILL_ROOT}/README.md" "${TWILL_ROOT}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${TWILL_ROOT}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")  # as README's links have it
install(DIRECTORY "${TWILL_ROOT}/presets/devices" "${TWILL_ROOT}/presets/schemas"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/twill")
foreach(folder IN ITEMS DOCDIR INCLUDEDIR DATADIR)
  install(CODE "get_filename_component(twill_${folder} \"${CMAKE_INSTALL_${folder}}\" ABSOLUTE
                                       BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")")
endforeach()
install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/install_links.cmake")
