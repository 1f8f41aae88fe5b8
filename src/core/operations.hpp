#pragma once

// How a call reaches the operations of its stream's device.

#include "core/call.hpp"

namespace twill::detail {

struct move_operations;
struct reduce_operations;
struct scan_operations;
struct team_operations;

/// The operations of one backend, put together in src/operations.
struct operation_table {
  const move_operations& move;
  const reduce_operations& reduce;
  const scan_operations& scan;
  const team_operations& team;
};

inline const operation_table& operations_of(const stream_ref& stream) {
  return *device_of(stream).operations;
}

}  // namespace twill::detail
