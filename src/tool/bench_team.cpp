#include "bench_team.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <twill/copy.hpp>
#include <twill/twill.hpp>

#include "data.hpp"
#include "interrupt.hpp"
#include "parse.hpp"
#include "statistics.hpp"
#include "team_data.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

using clock = std::chrono::steady_clock;

constexpr double sample_seconds = 2e-3, row_seconds = 1.0;

struct team_case {
  element_type type;
  extents size;
  std::string grid;
  global_shape shape;
};

/// What every rank has: its device, a stream, memory for input and output.
struct rank_setup {
  device on;
  stream work;
  raw_buffer in, out;
};

std::vector<device> devices_of(const team_bench_arguments& arguments) {
  std::vector<device> all;
  for (const std::string& name : arguments.devices) all.push_back(device::open(name));
  if (all.empty()) {
    for (const std::string& name : device::list()) {
      const device on = device::open(name);
      if (on.properties().is_gpu && (all.empty() || on.properties().backend == all[0].properties().backend)) {
        all.push_back(on);
      }
    }
  }
  if (all.empty()) all.push_back(device::open("cpu"));
  const auto ranks = static_cast<std::size_t>(arguments.ranks > 0 ? arguments.ranks : static_cast<int>(all.size()));
  std::vector<device> members;
  for (std::size_t rank = 0; rank < ranks; ++rank) members.push_back(all[rank % all.size()]);
  return members;
}

std::pair<std::int64_t, std::int64_t> parse_grid(const std::string& text, int ranks) {
  if (text == "slab") return {ranks, 1};
  const extents parts = parse_size(text);
  if (parts.size() != 2 || parts[0] * parts[1] != ranks) {
    refuse(fmt::format("grid {} is not one of {} ranks", text, ranks), "it is slab, or PxQ with P * Q ranks",
           fmt::format("write for example --grid {}x1", ranks));
  }
  return {parts[0], parts[1]};
}

/// A matrix is transposed from slabs to slabs. Of three dimensions, slabs change the dimension that is cut, pencils the
/// second one of the two: what was cut before is contiguous afterwards.
team_case case_of(const std::string& type, const std::string& size, const std::string& grid, int ranks) {
  team_case one{parse_type(type), parse_size(size), grid, {}};
  const auto [p, q] = parse_grid(grid, ranks);
  if (one.size.size() == 1) one.size.push_back(one.size[0]);
  one.shape.extents = {one.size.data(), one.size.size()};
  if (one.size.size() == 2) {
    if (q > 1) refuse(fmt::format("grid {} cuts a matrix twice", grid), "pencils have three dimensions", "write slab");
    one.shape.in = {{p, 1}, {}, {}};
    one.shape.out = {{1, p}, {1, 0}, {}};
  } else if (one.size.size() == 3 && q == 1) {
    one.shape.in = {{p, 1, 1}, {}, {}};
    one.shape.out = {{1, p, 1}, {1, 2, 0}, {}};
  } else if (one.size.size() == 3) {
    one.shape.in = {{p, q, 1}, {}, {}};
    one.shape.out = {{p, 1, q}, {0, 2, 1}, {}};
  } else {
    refuse(fmt::format("size {} has {} extents", extents_text(one.size), one.size.size()),
           "a global transpose is measured of two or three", "write --size ROWSxCOLS or --size AxBxC");
  }
  return one;
}

/// One case on one team.
class team_runner {
 public:
  team_runner(const std::vector<device>& members, const team_bench_arguments& arguments, bench_report& report)
      : members_(members), reps_(arguments.reps), report_(report), team_(team::of_devices(members)) {}

  void run(const team_case& one, const std::vector<transport>& transports) {
    first_ = report_.results.size();
    prepare(one);
    add_memcpy(one);
    const double memcpy_rate = report_.results.back().gbps.value_or(0);
    double roof = 0;
    std::string roof_name;
    for (const transport via : transports) {
      const auto at = add(one, via, true);
      if (at && report_.results[*at].gbps.value_or(0) > roof) {
        roof = *report_.results[*at].gbps;
        roof_name = report_.results[*at].kernel;
      }
    }
    for (const transport via : transports) {
      const auto at = add(one, via, false);
      if (!at || !report_.results[*at].ms) continue;
      bench_result& row = report_.results[*at];
      row.roof = roof_name;
      if (roof > 0 && row.gbps) row.of_roof = *row.gbps / roof;
      if (memcpy_rate > 0) row.of_memcpy = 2 * part_bytes_ / (row.ms->median * 1e-3) * 1e-9 / memcpy_rate;
    }
  }

  std::string text(const team_case& one) const {
    table shown(
        {{"kernel", table::align::left}, {"ms"}, {"GB/s"}, {"% exchange"}, {"% memcpy"}, {"", table::align::left}});
    for (std::size_t i = first_; i < report_.results.size(); ++i) {
      const bench_result& r = report_.results[i];
      const auto percent = [](const std::optional<double>& x) { return x ? fmt::format("{:.1f}", 100 * *x) : "-"; };
      shown.add({r.kernel, r.ms ? fmt::format("{:.4f}", r.ms->median) : "-",
                 r.gbps ? fmt::format("{:.1f}", *r.gbps) : "-", percent(r.of_roof), percent(r.of_memcpy),
                 r.status == "ok"      ? ""
                 : r.status == "wrong" ? "WRONG: " + r.fault
                                       : "FAILED: " + r.fault});
    }
    return fmt::format("global transpose of {} {}, {} on {} ranks: GB/s out of each device\n{}\n",
                       extents_text(one.size), one.type.name, one.grid, members_.size(), shown.text());
  }

 private:
  void prepare(const team_case& one) {
    ranks_.clear();
    part_bytes_ = 0;
    for (int rank = 0; rank < team_.size(); ++rank) {
      const device& on = members_[static_cast<std::size_t>(rank)];
      const auto bytes = [&](const twill::distribution& side) {
        const auto elements = part_of(one.shape.extents, side, rank).elements;
        return static_cast<std::size_t>(std::max<std::int64_t>(1, elements) * one.type.bytes);
      };
      ranks_.push_back({on, stream(on), raw_buffer(on, bytes(one.shape.in)), raw_buffer(on, bytes(one.shape.out))});
      part_bytes_ = std::max(part_bytes_, static_cast<double>(ranks_.back().in.size_bytes()));
    }
    on_each_rank([&](int rank, rank_setup& r) {
      write_part(r.work, one.shape.extents, one.shape.in, rank, one.type.bytes, r.in.data());
    });
  }

  /// On a thread for each rank: the host's part is slow.
  void on_each_rank(const std::function<void(int, rank_setup&)>& f) {
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> thrown(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          f(static_cast<int>(rank), ranks_[rank]);
        } catch (...) {
          thrown[rank] = std::current_exception();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& one : thrown) {
      if (one) std::rethrow_exception(one);
    }
  }

  bench_result row_of(const team_case& one, const std::string& kernel) const {
    bench_result row;
    row.op = "global-transpose";
    row.device = members_[0].properties().name;
    row.kernel = kernel;
    row.type = one.type.name;
    row.rows = one.size[one.size.size() - 2];
    row.cols = one.size.back();
    if (one.size.size() > 2) {
      row.batch = one.size[0];
      row.all_extents = one.size;
    }
    row.part = fmt::format("{} on {}", one.grid, members_.size());
    row.plan = row.part;
    row.roof = "memcpy";
    return row;
  }

  void wait_all() const {
    for (const rank_setup& r : ranks_) r.work.wait();
  }

  /// Wall time from the first call to the end of the work on all devices: no event spans devices.
  void time(bench_result& row, double bytes, const std::function<void()>& launch) const {
    const auto seconds_of = [&](int runs) {
      wait_all();
      const auto begin = clock::now();
      for (int i = 0; i < runs; ++i) launch();
      wait_all();
      return std::chrono::duration<double>(clock::now() - begin).count();
    };
    seconds_of(1);
    const double once = std::max(seconds_of(2) / 2, 1e-7);
    const int runs = std::max(1, static_cast<int>(sample_seconds / once));
    const int reps = std::clamp(static_cast<int>(row_seconds / (once * runs)), std::min(3, reps_), reps_);
    std::vector<double> samples;
    for (int i = 0; i < reps && interrupted() == 0; ++i) samples.push_back(seconds_of(runs) / runs * 1e3);
    if (samples.empty()) return;
    row.reps = static_cast<int>(samples.size());
    row.ms = quartiles_of(std::move(samples));
    if (bytes > 0) row.gbps = bytes / (row.ms->median * 1e-3) * 1e-9;
  }

  void add_memcpy(const team_case& one) {
    bench_result row = row_of(one, "memcpy");
    time(row, 2 * part_bytes_, [&] {
      for (rank_setup& r : ranks_) {
        copy_bytes(r.work, r.in.data(), r.out.data(), std::min(r.in.size_bytes(), r.out.size_bytes()));
      }
    });
    row.valid = true;
    row.of_memcpy = 1;
    report_.results.push_back(row);
  }

  /// The transpose, or the bare exchange of as many bytes: {ranks, ranks, bytes}, whose first dimension is cut before
  /// and whose second one afterwards, so that each rank sends contiguous memory to contiguous memory.
  std::optional<std::size_t> add(const team_case& one, transport via, bool bare) {
    bench_result row = row_of(one, (bare ? std::string("exchange-") : std::string()) + name(via));
    try {
      global_options options;
      options.via = via;
      if (bare) {
        measure_exchange(one, row, options);
      } else {
        measure(one, row, options);
      }
    } catch (const error& e) {
      if (e.code() == errc::unsupported && via != transport::automatic) {
        note(fmt::format("twill: {} is left out ({})\n", row.kernel, e.what()));
        return std::nullopt;
      }
      row.status = "failed";
      row.fault = e.what();
    }
    report_.results.push_back(row);
    return report_.results.size() - 1;
  }

  void note(const std::string& text) {
    if (std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return;
    fmt::print(stderr, "{}", text);
    notes_.push_back(text);
  }

  std::vector<stream_ref> streams() const {
    std::vector<stream_ref> all;
    for (const rank_setup& r : ranks_) all.emplace_back(r.work);
    return all;
  }

  void measure(const team_case& one, bench_result& row, const global_options& options) {
    std::vector<member_memory> memory;
    for (const rank_setup& r : ranks_) memory.push_back({r.in.data(), r.out.data()});
    global_transpose plan(team_, one.type.bytes, one.shape, memory, options);
    row.plan = fmt::format("{}, {}", row.part, name(plan.via()));
    for (const rank_setup& r : ranks_) fill_bytes(r.work, r.out.data(), poison, r.out.size_bytes());
    const auto all = streams();
    double sent = 0;
    for (int i = 0; i < team_.size(); ++i) sent = std::max(sent, static_cast<double>(plan.bytes_sent(i)));
    time(row, sent, [&] { plan.run(all); });
    std::vector<std::string> faults(ranks_.size());
    on_each_rank([&](int rank, rank_setup& r) {
      faults[static_cast<std::size_t>(rank)] =
          part_fault(r.work, one.shape.extents, one.shape.out, rank, one.type.bytes, r.out.data());
    });
    for (const std::string& fault : faults) {
      if (row.fault.empty()) row.fault = fault;
    }
    row.valid = row.fault.empty();
    if (!row.valid) row.status = "wrong";
  }

  void measure_exchange(const team_case& one, bench_result& row, const global_options& options) {
    const std::int64_t size = team_.size();
    const std::int64_t chunk = std::max<std::int64_t>(1, static_cast<std::int64_t>(part_bytes_) / size / 16);
    team_case bare{parse_type("b16"), {size, size, chunk}, one.grid, {}};
    bare.shape.extents = {size, size, chunk};
    bare.shape.in = {{size, 1, 1}, {}, {}};
    bare.shape.out = {{1, size, 1}, {1, 0, 2}, {}};
    team_runner other(members_, reps_, report_);
    other.prepare(bare);
    other.measure(bare, row, options);
  }

  team_runner(const std::vector<device>& members, int reps, bench_report& report)
      : members_(members), reps_(reps), report_(report), team_(team::of_devices(members)) {}

  const std::vector<device>& members_;
  int reps_;
  bench_report& report_;
  team team_;
  std::vector<rank_setup> ranks_;
  double part_bytes_ = 0;
  std::size_t first_ = 0;
  std::vector<std::string> notes_;  // shown once
};

transport parse_transport(const std::string& text) {
  for (const transport via :
       {transport::automatic, transport::direct, transport::copy, transport::nccl, transport::mpi}) {
    if (text == name(via)) return via;
  }
  refuse(fmt::format("no transport \"{}\"", text), "known: automatic, direct, copy, nccl, mpi", "choose one of these");
}

}  // namespace

void run_team_bench(const team_bench_arguments& arguments, bench_report& report, bool quiet) {
  const std::vector<device> members = devices_of(arguments);
  for (const device& on : members) {
    const auto known = [&](const device_properties& p) { return p.name == on.properties().name; };
    if (std::none_of(report.devices.begin(), report.devices.end(), known)) report.devices.push_back(on.properties());
  }
  const auto or_default = [](const std::vector<std::string>& given, const std::vector<std::string>& standard) {
    return given.empty() ? standard : given;
  };
  std::vector<transport> transports;
  for (const std::string& text : or_default(arguments.transports, {"direct", "copy", "nccl"})) {
    transports.push_back(parse_transport(text));
  }
  const interrupt_guard guard;
  team_runner runner(members, arguments, report);
  for (const std::string& grid : or_default(arguments.grids, {"slab"})) {
    for (const std::string& type : or_default(arguments.types, {"f32"})) {
      for (const std::string& size : or_default(arguments.sizes, {"8192x8192"})) {
        const team_case one = case_of(type, size, grid, static_cast<int>(members.size()));
        runner.run(one, transports);
        if (!quiet) fmt::print("{}", runner.text(one));
        report.partial = interrupted() != 0;
        if (report.partial) return;
      }
    }
  }
}

}  // namespace twill::tool
