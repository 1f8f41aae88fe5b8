// Which function implements which operation on the CPU.

#include "core/operations.hpp"
#include "move/cpu/operations.hpp"
#include "reduce/cpu/operations.hpp"
#include "scan/cpu/operations.hpp"
#include "team/cpu/operations.hpp"

namespace twill::cpu {
namespace {

const detail::move_operations moves{&transpose_in_place, &permute, nullptr, &copy, &reverse, &fill};
const detail::reduce_operations reductions{&reduce};
const detail::scan_operations scans{&scan, &scan_scratch};
const detail::team_operations teams{&signal, nullptr, nullptr, nullptr, &store_tile};

}  // namespace

extern detail::operation_table operations;
detail::operation_table operations{moves, reductions, scans, teams};

}  // namespace twill::cpu
