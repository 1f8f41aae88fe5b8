#include "team_runner.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <twill/simt.hpp>

#include "bench_plan.hpp"
#include "compared_with.hpp"
#include "data.hpp"
#include "interrupt.hpp"
#include "statistics.hpp"
#include "team_data.hpp"
#include "team_prediction.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

using clock = std::chrono::steady_clock;

constexpr double run_seconds = 2e-3, row_seconds = 1.0;
constexpr int tuning_runs = 5;  // of each candidate

void set_predicted(bench_result& row, double seconds, double bytes) {
  const double ms = seconds * 1e3;
  row.predicted = true;
  row.ms = quartiles{ms, ms, ms};
  if (bytes > 0 && seconds > 0) row.gbps = bytes / seconds * 1e-9;
}

/// Bytes of a rank's part; at least one element.
std::size_t bytes_of_part(const team_case& one, const twill::distribution& side, int rank) {
  const auto elements = part_of(one.shape.extents, side, rank).elements;
  return static_cast<std::size_t>(std::max<std::int64_t>(1, elements) * one.type.bytes);
}

}  // namespace

team_runner::team_runner(const processes& world, team on, team_measures measures, bench_report& report)
    : world_(world), team_(std::move(on)), measures_(std::move(measures)), report_(report) {
  bool all_have = true;
  for (std::size_t i = 0; i < team_.local_ranks().size(); ++i) {
    all_have = all_have && has_clock(team_.local_device(static_cast<int>(i)));
  }
  is_timed_ = !world_.any(!all_have);
}

void team_runner::run(const team_case& one) {
  first_ = report_.results.size();
  predictions_.clear();
  ranks_.clear();  // the bare exchanges have memory of their own; device memory may not hold both
  const std::optional<bench_result> best = add_exchanges(one);
  if (world_.any(interrupted() != 0)) return;
  try {
    prepare(one);
  } catch (const error& problem) {  // the same on all ranks
    if (problem.code() != errc::out_of_memory) throw;
    bench_result row = row_of(one, "memcpy");
    row.status = "failed";
    row.fault = problem.what();
    report_.results.push_back(row);
    return;
  }
  add_memcpy(one);
  const double memcpy_rate = report_.results.back().gbps.value_or(0);
  global_options options;
  options.ranks_per_node = measures_.ranks_per_node;
  options.blocks_per_peer = measures_.blocks_per_peer;
  for (const transport via : measures_.transports) {
    options.via = via;
    const auto transposed = [&](bench_result& row, const global_options& with) { measure(one, row, with); };
    add(one, name(via), options, transposed);
  }
  add_tuned(one);
  for (std::size_t i = first_; i < report_.results.size(); ++i) {
    if (report_.results[i].kernel != "memcpy") compare(i, memcpy_rate, best ? &*best : nullptr);
  }
}

/// The bare exchange by each transport; returns the fastest.
std::optional<bench_result> team_runner::add_exchanges(const team_case& one) {
  global_options options;
  options.ranks_per_node = measures_.ranks_per_node;
  std::optional<bench_result> best;
  for (const transport via : measures_.transports) {
    options.via = via;
    const auto bare = [&](bench_result& row, const global_options& with) { measure_exchange(one, row, with); };
    const auto at = add(one, std::string("exchange-") + name(via), options, bare);
    const auto rate = [](const bench_result& row) { return row.gbps.value_or(0); };
    if (at && rate(report_.results[*at]) > (best ? rate(*best) : 0)) best = report_.results[*at];
  }
  return best;
}

void team_runner::add_tuned(const team_case& one) {
  global_options options;
  options.ranks_per_node = measures_.ranks_per_node;
  if (measures_.tune) {
    const auto tuned = [&](bench_result& row, const global_options& with) { measure(one, row, with, true); };
    add(one, "tuned", options, tuned);
  }
  if (measures_.tuning.empty()) return;
  options.tuning = measures_.tuning;
  const auto as_tuned = [&](bench_result& row, const global_options& with) { measure(one, row, with); };
  add(one, "as-tuned", options, as_tuned);
}

/// Of bare exchanges nothing is shown but their rate.
void team_runner::compare(std::size_t at, double memcpy_rate, const bench_result* roof) {
  bench_result& row = report_.results[at];
  if (!row.ms || !row.valid || row.kernel.rfind("exchange-", 0) == 0) return;
  if (roof != nullptr && row.gbps) {
    row.roof = roof->kernel;
    row.of_roof = *row.gbps / *roof->gbps;
  }
  if (memcpy_rate > 0) row.of_memcpy = 2 * part_bytes_ / (row.ms->median * 1e-3) * 1e-9 / memcpy_rate;
}

std::string team_runner::text(const team_case& one) const {
  table shown(
      {{"kernel", table::align::left}, {"ms"}, {"GB/s"}, {"% exchange"}, {"% memcpy"}, {"", table::align::left}});
  std::string tunings;
  for (std::size_t i = first_; i < report_.results.size(); ++i) {
    const bench_result& r = report_.results[i];
    const auto percent = [](const std::optional<double>& x) { return x ? fmt::format("{:.1f}", 100 * *x) : "-"; };
    shown.add({r.kernel, r.ms ? fmt::format("{:.4f}", r.ms->median) : "-",
               r.gbps ? fmt::format("{:.1f}", *r.gbps) : "-", percent(r.of_roof), percent(r.of_memcpy),
               r.status == "ok"      ? ""
               : r.status == "wrong" ? "WRONG: " + r.fault
                                     : "FAILED: " + r.fault});
    if (r.kernel == "tuned" && r.status == "ok") tunings += fmt::format("--tuning '{}'\n", r.plan);
  }
  return fmt::format("global transpose of {} {}, {} on {} ranks: GB/s out of each device\n{}{}\n{}",
                     extents_text(one.size), one.type.name, one.grid, team_.size(), shown.text(), predicted_text(),
                     tunings);
}

std::string team_runner::predicted_text() const {
  if (predictions_.empty()) return {};
  std::string text = "Predicted, the longer of the two; a lower bound, without handshake and latency:\n" + predictions_;
  if (!links_.empty()) text += wrapped("Links: " + links_ + ".") + "\n";
  return text + wrapped(compared_with_text(team_.local_device(0))) + "\n";
}

double team_runner::largest_part(const team_case& one) const {
  std::size_t most = 0;
  for (int rank = 0; rank < team_.size(); ++rank) most = std::max(most, bytes_of_part(one, one.shape.in, rank));
  return static_cast<double>(most);
}

void team_runner::prepare(const team_case& one) {
  ranks_.clear();
  part_bytes_ = largest_part(one);
  world_.together([&] {
    const std::vector<int>& local = team_.local_ranks();
    for (std::size_t i = 0; i < local.size(); ++i) {
      const device& on = team_.local_device(static_cast<int>(i));
      const std::size_t most =
          std::max(bytes_of_part(one, one.shape.in, local[i]), bytes_of_part(one, one.shape.out, local[i]));
      ranks_.push_back({local[i], on, stream(on), raw_buffer(on, most), raw_buffer(on, most)});
    }
    on_each_rank(
        [&](rank_setup& r) { write_part(r.on, one.shape.extents, one.shape.in, r.rank, one.type.bytes, r.in.data()); });
  });
}

/// On a thread for each rank: the host's part is slow.
void team_runner::on_each_rank(const std::function<void(rank_setup&)>& f) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> thrown(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        f(ranks_[i]);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

bench_result team_runner::row_of(const team_case& one, const std::string& kernel) const {
  bench_result row;
  row.op = "global-transpose";
  row.device = team_.local_device(0).properties().name;
  row.kernel = kernel;
  row.type = one.type.name;
  row.rows = one.size[one.size.size() - 2];
  row.cols = one.size.back();
  if (one.size.size() > 2) {
    row.batch = one.size[0];
    row.all_extents = one.size;
  }
  row.part = fmt::format("{} on {}", one.grid, team_.size());
  row.plan = row.part;
  row.roof = "memcpy";
  return row;
}

/// What no kernel writes is seen.
void team_runner::fill_outputs() const {
  world_.together([&] {
    for (const rank_setup& r : ranks_) fill_bytes(r.work, r.out.data(), poison, r.out.size_bytes());
  });
}

void team_runner::wait_all() const {
  for (const rank_setup& r : ranks_) r.work.wait();
}

/// Wall time from the first call of any process to the end of the work on all devices: no event spans devices.
void team_runner::time(bench_result& row, double bytes, const std::function<void()>& launch) const {
  const auto seconds_of = [&](int runs) {
    world_.together([&] { wait_all(); });  // all begin now
    const auto begin = clock::now();
    world_.together([&] {
      for (int i = 0; i < runs; ++i) launch();
      wait_all();
    });
    // All have ended: of processes that share a core, one may begin when another is done.
    return world_.largest(std::chrono::duration<double>(clock::now() - begin).count());
  };
  seconds_of(1);
  const double once = std::max(seconds_of(2) / 2, 1e-7);
  const int runs = std::max(1, static_cast<int>(run_seconds / once)), most = measures_.reps;
  const int reps = std::clamp(static_cast<int>(row_seconds / (once * runs)), std::min(3, most), most);
  std::vector<double> samples;
  for (int i = 0; i < reps && !world_.any(interrupted() != 0); ++i) samples.push_back(seconds_of(runs) / runs * 1e3);
  if (samples.empty()) return;
  row.reps = static_cast<int>(samples.size());
  row.ms = quartiles_of(std::move(samples));
  if (bytes > 0) row.gbps = bytes / (row.ms->median * 1e-3) * 1e-9;
}

/// Whether the outputs of all ranks hold the array as it is distributed after the run.
void team_runner::check(bench_result& row, const team_case& one, const twill::distribution& lies) {
  std::vector<std::string> faults(ranks_.size());
  world_.together([&] {
    on_each_rank([&](rank_setup& r) {
      r.work.wait();
      faults[static_cast<std::size_t>(&r - ranks_.data())] =
          part_fault(r.on, one.shape.extents, lies, r.rank, one.type.bytes, r.out.data());
    });
  });
  const auto first = std::find_if(faults.begin(), faults.end(), [](const std::string& text) { return !text.empty(); });
  row.fault = world_.first_text(first == faults.end() ? "" : *first);
  row.valid = row.fault.empty();
  if (row.valid) return;
  row.status = "wrong";
  row.gbps.reset();  // of a wrong output there is no bandwidth
}

/// A simulated device has no clock: what is not predicted has no time, but is run and checked.
void team_runner::predict(bench_result& row, const global_transpose& plan, double bytes,
                          const std::function<void()>& run) {
  std::vector<device> members;
  for (const rank_setup& r : ranks_) members.push_back(r.on);
  const bool has_model =
      std::all_of(members.begin(), members.end(), predicts) && ranks_.size() == static_cast<std::size_t>(team_.size());
  if (!has_model || (plan.via() != transport::direct && plan.via() != transport::copy)) return run();
  const std::string missing = missing_link(members);
  if (!missing.empty()) {
    note(fmt::format("twill: no time is predicted ({})\n", missing));
    return run();
  }
  const team_prediction found = predict_run(members, plan, run);
  row.sampled = found.sampled;
  set_predicted(row, found.seconds(), bytes);
  if (row.kernel.rfind("exchange-", 0) == 0) return;
  predictions_ += fmt::format("  {:<8}kernels {:.1f} us{}, links {:.1f} us\n", row.kernel, found.kernel_seconds * 1e6,
                              found.as_copies ? " (at the rate of memcpy)" : "", found.link_seconds * 1e6);
  links_ = links_text(members, plan);
}

/// Every rank copies its input.
void team_runner::add_memcpy(const team_case& one) {
  bench_result row = row_of(one, "memcpy");
  fill_outputs();
  const auto copies = [&] {
    for (rank_setup& r : ranks_) {
      const auto elements = part_of(one.shape.extents, one.shape.in, r.rank).elements;
      copy_bytes(r.work, r.in.data(), r.out.data(), static_cast<std::size_t>(elements * one.type.bytes));
    }
  };
  if (is_timed_) {
    time(row, 2 * part_bytes_, copies);
  } else {
    world_.together(copies);
    const device& on = team_.local_device(0);
    if (predicts(on)) {
      set_predicted(row, predicted_copy_seconds(on, static_cast<std::size_t>(part_bytes_)), 2 * part_bytes_);
    }
  }
  check(row, one, one.shape.in);
  if (row.ms) row.of_memcpy = 1;
  report_.results.push_back(row);
}

/// A row. One whose transport is named and reaches not all ranks is left out.
std::optional<std::size_t> team_runner::add(const team_case& one, const std::string& kernel,
                                            const global_options& options,
                                            const std::function<void(bench_result&, const global_options&)>& measured) {
  bench_result row = row_of(one, kernel);
  try {
    measured(row, options);
  } catch (const error& e) {
    if (e.code() == errc::unsupported && options.via != transport::automatic) {
      note(fmt::format("twill: {} is left out ({})\n", row.kernel, e.what()));
      return std::nullopt;
    }
    if (e.code() == errc::invalid_argument) throw;
    row.status = "failed";
    row.fault = e.what();
  }
  report_.results.push_back(row);
  return report_.results.size() - 1;
}

void team_runner::note(const std::string& text) {
  if (world_.rank() > 0 || std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return;
  fmt::print(stderr, "{}", text);
  notes_.push_back(text);
}

std::vector<stream_ref> team_runner::streams() const {
  std::vector<stream_ref> all;
  for (const rank_setup& r : ranks_) all.emplace_back(r.work);
  return all;
}

void team_runner::measure(const team_case& one, bench_result& row, const global_options& options, bool tunes) {
  std::vector<member_memory> memory;
  for (const rank_setup& r : ranks_) memory.push_back({r.in.data(), r.out.data()});
  global_transpose plan(team_, one.type.bytes, one.shape, memory, options);
  const auto all = streams();
  row.plan = tunes ? plan.tune(all, tuning_runs) : fmt::format("{}, {}", row.part, name(plan.via()));
  if (options.blocks_per_peer > 0) row.plan += fmt::format(", {} blocks for each peer", options.blocks_per_peer);
  fill_outputs();
  double sent = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    sent = std::max(sent, static_cast<double>(plan.bytes_sent(static_cast<int>(i))));
  }
  sent = world_.largest(sent);
  const auto run = [&] { plan.run(all); };
  if (is_timed_) {
    time(row, sent, run);
  } else {
    world_.together([&] { predict(row, plan, sent, run); });
  }
  check(row, one, one.shape.out);
}

/// The bare exchange of as many bytes: {ranks, ranks, bytes}, whose first dimension is cut before and whose second one
/// afterwards, so that each rank sends contiguous memory to contiguous memory.
void team_runner::measure_exchange(const team_case& one, bench_result& row, const global_options& options) {
  const std::int64_t size = team_.size();
  const std::int64_t chunk = std::max<std::int64_t>(1, static_cast<std::int64_t>(largest_part(one)) / size / 16);
  team_case bare{parse_type("b16"), {size, size, chunk}, one.grid, {}};
  bare.shape.extents = {size, size, chunk};
  bare.shape.in = {{size, 1, 1}, {}, {}};
  bare.shape.out = {{1, size, 1}, {1, 0, 2}, {}};
  team_runner other(world_, team_, measures_, report_);
  other.prepare(bare);
  other.measure(bare, row, options);
}

}  // namespace twill::tool
