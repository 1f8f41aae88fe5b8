#pragma once

// A team of two whose rank 1 is a mirror image of rank 0, in one thread: it gathers what rank 0 does, takes every
// message, and what it sends is what was in the receiver's memory.

#include <cstddef>
#include <cstring>
#include <functional>

#include <twill/team.hpp>

namespace support {

inline twill::team_link mirror_link() {
  static int handle;
  twill::team_link link;
  link.size = 2;
  link.allgather = [](const void* mine, void* all, std::size_t bytes) {
    for (std::size_t rank : {0, 1}) std::memcpy(static_cast<char*>(all) + rank * bytes, mine, bytes);
  };
  link.send = [](int, const void*, std::size_t) -> void* { return &handle; };
  link.receive = [](int, void*, std::size_t) -> void* { return &handle; };
  link.finish = [](void*) {};
  return link;
}

}  // namespace support
