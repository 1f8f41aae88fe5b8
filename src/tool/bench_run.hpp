#pragma once

#include <functional>

#include "bench_plan.hpp"
#include "bench_table.hpp"
#include "result.hpp"

namespace twill::tool {

using show_function = std::function<void(const bench_table&)>;

/// Runs a plan, case by case, and hands each finished table to `show`. A result is in `report` once, also where
/// several tables show it. SIGINT ends it early: the table that it interrupts is
/// shown as far as there is one, and the report is partial.
void run_bench(const bench_plan& plan, const bench_options& options, bench_report& report, const show_function& show);

}  // namespace twill::tool
