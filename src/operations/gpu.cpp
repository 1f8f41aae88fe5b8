// Which function implements which operation on a GPU or simulated GPU: compiled once for each such backend.

#include "core/operations.hpp"
#include "move/gpu/operations.hpp"
#include "reduce/gpu/operations.hpp"
#include "scan/gpu/operations.hpp"
#include "team/gpu/operations.hpp"

namespace twill::TWILL_BACKEND {
namespace {

const detail::move_operations moves{&transpose_in_place, &permute, &permute_with, &copy, &reverse, &fill};
const detail::reduce_operations reductions{&reduce};
const detail::scan_operations scans{&scan, &scan_scratch};
const detail::team_operations teams{&signal, &await, &finish, &exchange};

}  // namespace

extern detail::operation_table operations;
detail::operation_table operations{moves, reductions, scans, teams};

}  // namespace twill::TWILL_BACKEND
