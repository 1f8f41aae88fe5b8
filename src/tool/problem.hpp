#pragma once

// What the bench needs to know of an operation. A new one is a file like bench_transpose.cpp and a line in
// bench_command.cpp.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <twill/buffer.hpp>
#include <twill/explain.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/stream.hpp>

#include "data.hpp"
#include "parse.hpp"

namespace twill::tool {

/// One problem: an operation on one size and element type. A length has rows() 1. The output is memory of out_bytes():
/// what an operation needs beside its result, such as scratch, is a part of it.
class ladder_problem {
 public:
  virtual ~ladder_problem() = default;

  /// The size as it is shown: "4096x1024".
  virtual std::string text() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  virtual std::int64_t batch() const { return 1; }
  /// All extents, outermost first, and for a permutation their order; empty where rows and columns say it all.
  virtual extents all_extents() const { return {}; }
  virtual extents order() const { return {}; }
  /// Of a permutation, in elements: of the input's dimensions and of the output's; empty where they are packed.
  virtual extents in_strides() const { return {}; }
  virtual extents out_strides() const { return {}; }
  /// Elements between the rows of the input, and once more between its matrices.
  virtual std::int64_t gap() const { return 0; }
  virtual std::size_t in_bytes() const = 0;
  virtual std::size_t out_bytes() const = 0;
  /// Bytes that one run must move: what its bandwidth is counted by.
  virtual double moved_bytes() const = 0;
  /// The same for a rung that moves others, such as `memcpy` beside an operation that only reads.
  virtual double moved_bytes_of(const rung&) const { return moved_bytes(); }
  /// Bytes that one run goes through: cold runs take as many problems as make several times the cache.
  virtual std::size_t touched_bytes() const { return in_bytes() + out_bytes(); }

  /// The kind of elements that the input holds (data.hpp): bytes, unless it is calculated with.
  virtual twill::element_type data_kind() const { return twill::element_type::u8; }

  /// Whether the output is the input too: what is to be moved lies in its first in_bytes().
  virtual bool in_place() const { return false; }

  /// Fills the output with what it holds before a run whose result is checked.
  void prepare(stream_ref stream, const void* in, void* out) const {
    fill_bytes(stream, out, poison, out_bytes());
    if (in_place()) copy_bytes(stream, in, out, in_bytes());
  }

  /// The kernels that a planner chooses from on a device, the cheapest first; none where there is no planner.
  virtual std::vector<candidate> candidates(const device&) const { return {}; }
  /// That its choice takes on the host.
  virtual std::chrono::nanoseconds planning_time(const device&) const { return {}; }

  virtual void run(stream_ref stream, const rung& which, const void* in, void* out,
                   const rung_options& options) const = 0;

  /// Where the output of `which`, run with `block`, first differs from what the rung promises; "" when nowhere.
  virtual std::string fault(stream_ref stream, const rung& which, block_shape block, const void* out) const = 0;
};

/// Scratch memory of a problem, one on each device, made when it is first asked for, which is before anything is timed.
class shared_scratch {
 public:
  void* on(stream_ref stream, std::size_t bytes) {
    auto& memory = memory_[stream.on().properties().name];
    if (!memory || memory->size_bytes() < bytes) memory.emplace(stream.on(), bytes);
    return memory->data();
  }

 private:
  std::map<std::string, std::optional<raw_buffer>> memory_;
};

/// One case of a bench: what `--size`, `--type`, `--order` and strides, or a line of a list, say.
struct bench_case {
  element_type type;
  extents size;
  extents order;                              ///< of a permutation's dimensions; empty: the operation's own
  std::int64_t gap = 0;                       ///< of a transpose: see ladder_problem::gap
  std::string part;                           ///< of --grid or --sweep
  extents in_strides = {}, out_strides = {};  ///< of a permutation, in elements; empty: packed
};

/// An operation that has a ladder.
struct ladder_operation {
  std::string name;
  std::string default_size;
  std::vector<rung> (*rungs)(const device& on);
  std::vector<block_shape> (*blocks)(const device& on, std::string_view rung, std::int64_t element_bytes);
  /// Refuses extents that mean nothing to the operation, or too many bytes.
  std::unique_ptr<ladder_problem> (*problem)(const bench_case& which);
  std::string roof = "memcpy";  ///< the rung that the others are shown as a part of: what memory allows
  std::string default_type = "f32";
  bool has_order = false, has_gap = false;  ///< whether --order and strides, and gaps in lists, mean something
  bool (*is_on_request)(std::string_view rung) = nullptr;  ///< of rungs that --kernel has to name, if there are any
};

/// The operation that a command line names. Refuses others, with those there are.
const ladder_operation& operation_named(const std::string& name, const std::vector<std::string>& others = {});

/// Operations by file: bench_transpose.cpp, bench_move.cpp, bench_fill.cpp, bench_array.cpp, bench_reduce.cpp,
/// bench_scan_rows.cpp.
const ladder_operation& transpose_operation();
const ladder_operation& transpose_in_place_operation();
const ladder_operation& permute_operation();
const ladder_operation& copy_operation();
const ladder_operation& fill_operation();
const ladder_operation& scan_operation();
const ladder_operation& scan_rows_operation();
const ladder_operation& reverse_operation();
const ladder_operation& increment_operation();
const ladder_operation& sieve_operation();
const ladder_operation& reduce_operation();
const ladder_operation& reduce_rows_operation();
const ladder_operation& reduce_columns_operation();

}  // namespace twill::tool
