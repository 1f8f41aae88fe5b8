#pragma once

// One global transpose after another on one team, measured and checked.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "processes.hpp"
#include "result.hpp"

namespace twill::tool {

struct team_case {
  element_type type;
  extents size;
  std::string grid;
  global_shape shape;
};

/// What is measured of each case.
struct team_measures {
  std::vector<transport> transports;
  bool tune = false;   ///< also the plan as it is tuned
  std::string tuning;  ///< also a plan as it was tuned; "": not
  int ranks_per_node = 0;
  int blocks_per_peer = 0;  ///< of direct
  int reps = 15;
};

class team_runner {
 public:
  team_runner(const processes& world, team on, team_measures measures, bench_report& report);

  /// Adds a row for the bare exchange by each transport, for memcpy, for each transport, and for what is tuned. The
  /// same in all processes.
  void run(const team_case& one);

  /// A table of the last case.
  std::string text(const team_case& one) const;

 private:
  /// A local rank: its device, a stream, memory for input and output, each as large as the larger of the two.
  struct rank_setup {
    int rank;
    device on;
    stream work;
    raw_buffer in, out;
  };

  double largest_part(const team_case& one) const;
  void prepare(const team_case& one);
  void on_each_rank(const std::function<void(rank_setup&)>& f);
  bench_result row_of(const team_case& one, const std::string& kernel) const;
  void fill_outputs() const;
  void wait_all() const;
  void time(bench_result& row, double bytes, const std::function<void()>& launch) const;
  void predict(bench_result& row, const global_transpose& plan, double bytes, const std::function<void()>& run);
  std::string predicted_text() const;
  void check(bench_result& row, const team_case& one, const twill::distribution& lies);
  void add_memcpy(const team_case& one);
  std::optional<std::size_t> add(const team_case& one, const std::string& kernel, const global_options& options,
                                 const std::function<void(bench_result&, const global_options&)>& measured);
  std::optional<bench_result> add_exchanges(const team_case& one);
  void add_tuned(const team_case& one);
  void note(const std::string& text);
  std::vector<stream_ref> streams() const;
  void measure(const team_case& one, bench_result& row, const global_options& options, bool tunes = false);
  void measure_exchange(const team_case& one, bench_result& row, const global_options& options);
  void compare(std::size_t at, double memcpy_rate, const bench_result* roof);

  const processes& world_;
  team team_;
  team_measures measures_;
  bench_report& report_;
  std::vector<rank_setup> ranks_;
  bool is_timed_ = true;   // all devices of all ranks have a clock
  double part_bytes_ = 0;  // of the largest input of all ranks
  std::size_t first_ = 0;
  std::vector<std::string> notes_;   // shown once
  std::string predictions_, links_;  // of the last case: a line a transport, and what all have
};

}  // namespace twill::tool
