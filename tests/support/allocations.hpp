#pragma once

#include <cstdint>

namespace support {

/// How often operator new was called, by all threads of the program (allocations_test.cpp replaces it).
std::uint64_t host_allocations();

}  // namespace support
