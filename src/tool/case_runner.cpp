#include "case_runner.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/simt.hpp>

#include "format.hpp"
#include "pattern.hpp"
#include "timing.hpp"

namespace twill::tool {
namespace {

constexpr double in_loop_seconds = 20e-3;
constexpr double most_repeats = 100;
constexpr int untimed_repeats = 2;
constexpr int predicted_repeats = 4;  // in the kernel: enough for the first one not to count

}  // namespace

void case_runner::run_roof(const std::optional<planned_rung>& roof) {
  if (roof) roof_ = row(*roof, loop_kind::over);
}

bool case_runner::lacks_pairs() const {
  if (!options_.cold || !pairs_ || !has_clock(on_)) return false;
  return case_.problem->touched_bytes() * static_cast<std::size_t>(pairs_->pairs()) < 4 * on_.properties().cache_bytes;
}

const working_set& case_runner::pairs() {
  if (!pairs_) {
    const int count =
        options_.cold && has_clock(on_) ? cold_pairs(on_, case_.problem->touched_bytes(), pair_bytes()) : 1;
    pairs_.emplace(stream_, *case_.problem, count);
  }
  return *pairs_;
}

bench_result case_runner::start(const planned_rung& which, loop_kind loop) const {
  bench_result result;
  result.op = plan_.operation->name;
  result.roof = plan_.operation->roof;
  result.device = on_.properties().name;
  result.kernel = which.info.name;
  result.type = case_.type.name;
  result.rows = case_.problem->rows();
  result.cols = case_.problem->cols();
  result.batch = case_.problem->batch();
  result.all_extents = case_.problem->all_extents();
  result.order = case_.problem->order();
  result.loop = loop;
  result.block = which.block;
  return result;
}

std::optional<std::size_t> case_runner::known(const bench_result& wanted) const {
  const auto same = [&](const bench_result& old) {
    return old.device == wanted.device && old.kernel == wanted.kernel && old.type == wanted.type &&
           old.rows == wanted.rows && old.cols == wanted.cols && old.all_extents == wanted.all_extents &&
           old.order == wanted.order && old.loop == wanted.loop && old.block.x == wanted.block.x &&
           old.block.y == wanted.block.y;
  };
  const auto found = std::find_if(report_.results.begin(), report_.results.end(), same);
  if (found == report_.results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - report_.results.begin());
}

std::size_t case_runner::row(const planned_rung& which, loop_kind loop) {
  bench_result result = start(which, loop);
  if (const auto place = known(result)) return *place;
  shown_.step(fmt::format("{}: {} {} {}, {} {}", result.device, result.op, case_.problem->text(), result.type,
                          result.kernel, block_text(result.block)));
  const int repeats = repeats_for(which, loop);
  if (predicts(on_)) {
    predict(which, repeats, result);
  } else {
    check(which, repeats, result);
    if (result.valid && has_clock(on_)) time(which, repeats, result);
  }
  report_.results.push_back(std::move(result));
  return report_.results.size() - 1;
}

int case_runner::repeats_for(const planned_rung& which, loop_kind loop) {
  if (loop == loop_kind::over) return 1;
  if (predicts(on_)) return predicted_repeats;
  if (!has_clock(on_)) return untimed_repeats;
  const double once = rough_seconds(stream_, pairs(), [&](const void* in, void* out) { run(which, 1, in, out); });
  return static_cast<int>(std::clamp(in_loop_seconds / std::max(once, 1e-6), 2.0, most_repeats));
}

void case_runner::check(const planned_rung& which, int repeats, bench_result& result) {
  case_.problem->prepare(stream_, pairs().in(0), pairs().out(0));
  run(which, repeats, pairs().in(0), pairs().out(0));
  stream_.wait();
  result.fault = case_.problem->fault(stream_, which.info, which.block, pairs().out(0));
  result.valid = result.fault.empty();
}

// The run that is checked is the one that is predicted. What launches no kernel is the device's own copy.
void case_runner::predict(const planned_rung& which, int repeats, bench_result& result) {
  const predicted_time found = twill::predict(on_, [&] { check(which, repeats, result); });
  result.waits = found.waiting > 0;
  if (!result.valid || result.waits) return;
  result.sampled = found.sampled;
  if (found.launches > 0) result.busiest_channel = found.busiest_channel;
  const double moved = case_.problem->moved_bytes_of(which.info);
  const double all =
      found.launches > 0 ? found.seconds : predicted_copy_seconds(on_, static_cast<std::size_t>(moved / 2));
  const double each = all / repeats;
  result.predicted = true;
  result.seconds = quartiles{each, each, each};
  const bool cache_only = result.loop == loop_kind::in && repeats_in_cache();
  if (each > 0 && !cache_only) rate(result, moved / each);
}

void case_runner::time(const planned_rung& which, int repeats, bench_result& result) {
  const auto launch = [&](const void* in, void* out) { run(which, repeats, in, out); };
  const timing taken = measure(stream_, pairs(), launch, options_.reps);
  const quartiles each = {taken.seconds.median / repeats, taken.seconds.p25 / repeats, taken.seconds.p75 / repeats};
  result.seconds = each;
  result.reps = taken.reps;
  const bool cache_only = result.loop == loop_kind::in && repeats_in_cache();
  if (each.median > 0 && !cache_only) rate(result, case_.problem->moved_bytes_of(which.info) / each.median);
}

void case_runner::rate(bench_result& result, double bytes_per_second) const {
  result.bytes_per_second = bytes_per_second;
  const double peak = on_.properties().peak_bytes_per_second;
  if (peak > 0) result.of_peak = bytes_per_second / peak;
  if (result.kernel == plan_.operation->roof) result.of_roof = 1.0;
  if (!roof_) return;
  const bench_result& roof = report_.results[*roof_];
  if (roof.bytes_per_second) result.of_roof = bytes_per_second / *roof.bytes_per_second;
}

}  // namespace twill::tool
