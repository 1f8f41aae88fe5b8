#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <twill/buffer.hpp>
#include <twill/stream.hpp>

namespace twill::tool {

/// Scratch memory of a problem, the same for all pairs of a working set: thousands of pairs of a few KiB would else
/// have some of their own each. It is made when it is first asked for, which is before anything is timed.
class shared_scratch {
 public:
  void* on(stream_ref stream, std::size_t bytes) {
    auto& memory = memory_[stream.on().properties().name];
    if (!memory || memory->size_bytes() < bytes) memory.emplace(stream.on(), bytes);
    return memory->data();
  }

 private:
  std::map<std::string, std::optional<raw_buffer>> memory_;  // by device
};

}  // namespace twill::tool
