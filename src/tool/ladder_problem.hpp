#pragma once

// What the bench needs to know of an operation. A new one is a file like bench_transpose.cpp and a line in
// bench_command.cpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <twill/buffer.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/stream.hpp>

#include "parse.hpp"
#include "pattern.hpp"

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
  virtual std::size_t in_bytes() const = 0;
  virtual std::size_t out_bytes() const = 0;
  /// Bytes that one run must move: what its time is turned into bandwidth with.
  virtual double moved_bytes() const = 0;
  /// The same for a rung that moves others, such as `memcpy` beside an operation that only reads.
  virtual double moved_bytes_of(const rung&) const { return moved_bytes(); }
  /// Bytes that one run goes through: cold runs take as many problems as make several times the cache.
  virtual std::size_t touched_bytes() const { return in_bytes() + out_bytes(); }

  /// Writes `bytes` bytes of the input from byte `first` on, a multiple of 64, to host memory.
  virtual void write_input(void* to, std::uint64_t first, std::size_t bytes) const { write_data(to, first, bytes); }

  /// What works in place finds its data in the output.
  virtual void place_input(stream_ref /*stream*/, const void* /*in*/, void* /*out*/) const {}

  /// Brings the output to the state that a run begins in whose result is looked at.
  void prepare(stream_ref stream, const void* in, void* out) const {
    fill_bytes(stream, out, poison, out_bytes());
    place_input(stream, in, out);
  }

  virtual void run(stream_ref stream, const rung& which, const void* in, void* out,
                   const rung_options& options) const = 0;

  /// Where the output of `which`, run with `block`, first differs from what the rung promises; "" when nowhere.
  virtual std::string fault(stream_ref stream, const rung& which, block_shape block, const void* out) const = 0;
};

/// An operation that has a ladder.
struct ladder_operation {
  std::string name;
  std::string default_size;
  std::vector<rung> (*rungs)(const device& on);
  std::vector<block_shape> (*blocks)(const device& on, std::string_view rung, std::int64_t element_bytes);
  /// Refuses extents that mean nothing to the operation, or too many bytes.
  std::unique_ptr<ladder_problem> (*problem)(const extents& size, const element_type& type);
  std::string roof = "memcpy";  ///< the rung that the others are shown as a part of: what memory allows
  /// The same with --order; null where that means nothing.
  std::unique_ptr<ladder_problem> (*ordered)(const extents& size, const element_type& type,
                                             const extents& order) = nullptr;
  std::string default_type = "f32";
};

/// transpose, transpose-in-place: bench_transpose.cpp, bench_transpose_in_place.cpp
const ladder_operation& transpose_operation();
const ladder_operation& transpose_in_place_operation();
/// permute, copy: bench_permute.cpp, bench_copy.cpp
const ladder_operation& permute_operation();
const ladder_operation& copy_operation();
/// scan, reverse, increment, sieve: bench_array.cpp
const ladder_operation& scan_operation();
const ladder_operation& reverse_operation();
const ladder_operation& increment_operation();
const ladder_operation& sieve_operation();
/// reduce, reduce-rows, reduce-columns: bench_reduce.cpp
const ladder_operation& reduce_operation();
const ladder_operation& reduce_rows_operation();
const ladder_operation& reduce_columns_operation();

}  // namespace twill::tool
