#pragma once

// What every public call begins with.

#include <string>
#include <utility>

#include <twill/error.hpp>
#include <twill/stream.hpp>

#include "backends/backend.hpp"

namespace twill::detail {

/// Runs `work`; its errors, those of the backend too, begin with the name of the operation.
template <class Work>
decltype(auto) in_call(const char* operation, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const error& e) {
    throw error(e.code(), std::string(operation) + ": " + e.what());
  }
}

/// The backend's side of a stream. Throws: invalid_argument when the stream is empty.
inline backend_device& device_of(const stream_ref& stream) {
  if (!stream.on().is_open()) fail_empty("the stream");
  return *stream.on().impl();
}

inline work_queue queue_of(const stream_ref& stream) {
  return {&device_of(stream), stream.native()};
}

}  // namespace twill::detail
