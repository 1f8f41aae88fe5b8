# Finds the CUDA toolkit. FindCUDAToolkit of CMake 3.25 gives a property to nvToolsExt, which CUDA 13 no longer has, unless
# the project's minimum is older. Installed beside the package.
set(twill_minimum "${CMAKE_MINIMUM_REQUIRED_VERSION}")
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit QUIET)
set(CMAKE_MINIMUM_REQUIRED_VERSION "${twill_minimum}")
unset(twill_minimum)
