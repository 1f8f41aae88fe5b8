# Decides which backends are built and enables the languages that they need. Included once, by the root.

foreach(backend IN LISTS TWILL_BACKENDS)
  if(NOT backend MATCHES "^(cpu|simt|cuda|hip)$")
    message(FATAL_ERROR "There is no backend ${backend} (TWILL_BACKENDS is ${TWILL_BACKENDS}). "
      "There are cuda, hip, cpu and simt.")
  endif()
endforeach()
if(NOT TWILL_HIP_PLATFORM MATCHES "^(amd|nvidia)$")
  message(FATAL_ERROR "There is no HIP platform ${TWILL_HIP_PLATFORM} (TWILL_HIP_PLATFORM). There are amd and nvidia.")
endif()
list(REMOVE_DUPLICATES TWILL_BACKENDS)
if(NOT TWILL_BACKENDS)
  message(FATAL_ERROR "TWILL_BACKENDS is empty. Name at least one of cuda, hip, cpu and simt.")
endif()

set(TWILL_HIP_ON_NVIDIA OFF)
if("hip" IN_LIST TWILL_BACKENDS AND TWILL_HIP_PLATFORM STREQUAL "nvidia")
  set(TWILL_HIP_ON_NVIDIA ON)
endif()
if("hip" IN_LIST TWILL_BACKENDS)
  include(hip)
endif()
if("cuda" IN_LIST TWILL_BACKENDS OR TWILL_HIP_ON_NVIDIA)
  include(cuda)
endif()

find_package(Threads REQUIRED)

set(TWILL_HAS_HOST OFF)
if("cpu" IN_LIST TWILL_BACKENDS OR "simt" IN_LIST TWILL_BACKENDS)
  set(TWILL_HAS_HOST ON)
endif()

# What libtwill is linked with.
set(twill_libraries Threads::Threads ${CMAKE_DL_LIBS})
if("cuda" IN_LIST TWILL_BACKENDS OR TWILL_HIP_ON_NVIDIA)
  list(APPEND twill_libraries CUDA::cudart_static)
endif()
if("hip" IN_LIST TWILL_BACKENDS AND NOT TWILL_HIP_ON_NVIDIA)
  list(APPEND twill_libraries Twill::hip_runtime)
endif()

# twill_write_backend_list(FILE BACKEND...): the backends that a source puts in a table.
function(twill_write_backend_list file)
  list(TRANSFORM ARGN REPLACE "(.+)" "TWILL_BACKEND_OF_BUILD(\\1)\n")
  list(JOIN ARGN "" text)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${file}" CONTENT "${text}")
endfunction()
set(twill_linked_backends ${TWILL_BACKENDS})
list(REMOVE_ITEM twill_linked_backends simt)  # a library of its own, which adds itself
twill_write_backend_list(backend_list.inc ${twill_linked_backends})
twill_write_backend_list(backend_list_ladder.inc ${TWILL_BACKENDS})

message(STATUS "Twill ${PROJECT_VERSION} with the backends: ${TWILL_BACKENDS}")
if(TWILL_DEFAULT_DEVICE)
  string(REGEX REPLACE ":.*" "" backend "${TWILL_DEFAULT_DEVICE}")
  if(NOT TWILL_DEFAULT_DEVICE MATCHES "^(cpu|simt(:.+)?|(cuda|hip)(:[0-9]+)?)$" OR NOT backend IN_LIST TWILL_BACKENDS)
    message(FATAL_ERROR "TWILL_DEFAULT_DEVICE is ${TWILL_DEFAULT_DEVICE}, which is no device of the backends of this build: "
      "${TWILL_BACKENDS}. Name one such as cuda:0, hip:0, cpu, simt or simt:k20.")
  endif()
  message(STATUS "Default device: ${TWILL_DEFAULT_DEVICE}")
endif()
if(TWILL_DEFAULT_DEVICE STREQUAL "simt:gtx280")
  message(STATUS "No living toolkit targets sm_13: the last was CUDA 6.5, without C++11")
  message(STATUS "This build is for the host, where the kernels run against a model of the GTX 280")
endif()
