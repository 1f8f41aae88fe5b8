// The ladders over arrays: scan, reverse, increment, sieve.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/ladder/array.hpp>
#include <twill/reverse.hpp>
#include <twill/scan.hpp>

#include "problem.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

constexpr std::int64_t chunk_elements = 1 << 20;

/// Calls f with a value of the type that counts elements of `type` up: integers wrap around.
template <class F>
auto with_number(twill::element_type type, F&& f) {
  if (type == twill::element_type::f32) return f(float{});
  if (type == twill::element_type::f64) return f(double{});
  return f(std::uint32_t{});
}

/// What out[first ... first + count - 1] should hold, made of the input; `sum` is what a scan carries from chunk to
/// chunk.
class expected_output {
 public:
  expected_output(std::string_view op, const rung& which, const element_type& type, std::int64_t count)
      : copies_(which.promise == rung_promise::copy), op_(op), type_(type), count_(count) {}

  std::vector<unsigned char> next(std::int64_t first, std::int64_t count) {
    if (op_ == "reverse" && !copies_) return reversed(count_ - first - count, count);
    std::vector<unsigned char> data = numbers(first, count);
    if (copies_) return data;
    if (op_ == "scan") {
      scanned(data, count);
      return data;
    }
    with_number(type_.kind, [&](auto number) {
      auto* x = reinterpret_cast<decltype(number)*>(data.data());
      for (std::int64_t i = 0; i < count; ++i) x[i] = x[i] + 1;
    });
    return data;
  }

 private:
  std::vector<unsigned char> numbers(std::int64_t first, std::int64_t count) const {
    return data_from(static_cast<std::uint64_t>(first * type_.bytes), static_cast<std::size_t>(count * type_.bytes),
                     type_.kind);
  }

  std::vector<unsigned char> reversed(std::int64_t first, std::int64_t count) const {
    const std::vector<unsigned char> forwards = numbers(first, count);
    std::vector<unsigned char> data(forwards.size());
    const auto bytes = static_cast<std::size_t>(type_.bytes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      std::memcpy(data.data() + data.size() - (i + 1) * bytes, forwards.data() + i * bytes, bytes);
    }
    return data;
  }

  // No tolerance: the numbers are integers of mean 0 (data.hpp), so that what any neighbours of them add up to
  // stays below 2^24, and is exact in float, in a sequential loop as in a tree; half precision rounds it once.
  void scanned(std::vector<unsigned char>& data, std::int64_t count) {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(count));
    read_numbers(data.data(), count, type_.kind, sums.data());
    for (std::int64_t& each : sums) {
      const auto own = static_cast<std::uint64_t>(each);
      each = static_cast<std::int64_t>(sum_);
      sum_ += own;
    }
    store_numbers(data.data(), sums.data(), count, type_.kind);
  }

  bool copies_;
  std::string_view op_;
  element_type type_;
  std::int64_t count_;
  std::uint64_t sum_ = 0;  // modulo 2^64
};

/// By chunks: which numbers below `count` are composite; 0 and 1 count as such.
class sieve_reference {
 public:
  explicit sieve_reference(std::int64_t count) {
    std::vector<bool> composite(static_cast<std::size_t>(std::sqrt(static_cast<double>(count))) + 2);
    for (std::size_t p = 2; p < composite.size(); ++p) {
      if (composite[p]) continue;
      primes_.push_back(static_cast<std::int64_t>(p));
      for (std::size_t i = p * p; i < composite.size(); i += p) composite[i] = true;
    }
  }

  std::vector<std::int32_t> flags(std::int64_t first, std::int64_t count) const {
    std::vector<std::int32_t> composite(static_cast<std::size_t>(count), 0);
    for (std::int64_t i = first; i < std::min<std::int64_t>(2, first + count); ++i) {
      composite[static_cast<std::size_t>(i - first)] = 1;
    }
    for (const std::int64_t p : primes_) {
      const std::int64_t at = std::max(p * p, (first + p - 1) / p * p);
      for (std::int64_t i = at; i < first + count; i += p) composite[static_cast<std::size_t>(i - first)] = 1;
    }
    return composite;
  }

 private:
  std::vector<std::int64_t> primes_;
};

// The first element that differs; -1 for none.
std::int64_t first_difference(const std::vector<unsigned char>& found, const std::vector<unsigned char>& right,
                              std::int64_t bytes) {
  const auto at = std::mismatch(found.begin(), found.end(), right.begin()).first;
  return at == found.end() ? -1 : (at - found.begin()) / bytes;
}

// The bits of twill::sieve as flags of `count` numbers from `first`, a multiple of 64, on.
std::vector<std::int32_t> flags_of_bits(stream_ref stream, std::int64_t first, std::int64_t count, const void* out) {
  std::vector<std::uint32_t> bits(static_cast<std::size_t>((count + 63) / 64));
  download_bytes(stream, static_cast<const std::uint32_t*>(out) + first / 64, bits.data(), bits.size() * 4);
  stream.wait();
  std::vector<std::int32_t> flags(static_cast<std::size_t>(count), 1);
  for (std::size_t i = 1; i < flags.size(); i += 2) flags[i] = (bits[i / 64] >> (i % 64 / 2) & 1) == 0;
  if (first > 0) return flags;
  if (count > 2) flags[2] = flags[1];  // the bit of 1 stands for 2
  if (count > 1) flags[1] = 1;
  return flags;
}

/// Whether a rung of the sieve leaves a bit for each odd number, not a flag for each number.
bool writes_bits(const rung& which) {
  return which.name == "tuned" || which.name == "cpu-tuned" || which.name == "cpu-segmented";
}

std::string sieve_fault(stream_ref stream, const rung& which, std::int64_t count, const void* out) {
  const sieve_reference expected(count);
  const bool bits = writes_bits(which);
  for (std::int64_t first = 0; first < count; first += chunk_elements) {
    const std::int64_t part = std::min(chunk_elements, count - first);
    const auto composite = expected.flags(first, part);
    std::vector<std::int32_t> found(composite.size());
    if (bits) {
      found = flags_of_bits(stream, first, part, out);
    } else {
      download_bytes(stream, static_cast<const std::int32_t*>(out) + first, found.data(), found.size() * 4);
      stream.wait();
    }
    const auto differs = std::mismatch(found.begin(), found.end(), composite.begin());
    if (differs.first == found.end()) continue;
    return fmt::format("number {} is marked {}", first + (differs.first - found.begin()), *differs.first);
  }
  return "";
}

/// Where `out`, `count` elements in device memory, first differs from what `which`, a rung of the ladder of `op`, makes
/// of the input of data.hpp; "" when nowhere.
std::string array_fault(stream_ref stream, std::string_view op, const rung& which, const element_type& type,
                        std::int64_t count, const void* out) {
  if (which.promise == rung_promise::nothing) return "";
  if (op == "sieve") return sieve_fault(stream, which, count, out);
  const std::int64_t bytes = type.bytes;
  expected_output expected(op, which, type, count);
  for (std::int64_t first = 0; first < count; first += chunk_elements) {
    const std::int64_t part = std::min(chunk_elements, count - first);
    const auto right = expected.next(first, part);
    std::vector<unsigned char> found(right.size());
    download_bytes(stream, static_cast<const unsigned char*>(out) + first * bytes, found.data(), found.size());
    stream.wait();
    const std::int64_t differs = first_difference(found, right, bytes);
    if (differs >= 0) return fmt::format("element {} differs", first + differs);
  }
  return "";
}

/// Whether all rungs of a ladder take elements of a type, not only those that copy or call the operation.
bool rungs_support(std::string_view op, const element_type& type) {
  using kind = twill::element_type;
  if (op == "reverse") return type.bytes == static_cast<std::int64_t>(element_bytes(type.kind));
  const kind known[] = {kind::i32, kind::u32, kind::f32, kind::f64};
  return std::find(std::begin(known), std::end(known), type.kind) != std::end(known);
}

class array_problem : public ladder_problem {
 public:
  array_problem(std::string_view op, std::int64_t count, const element_type& type)
      : op_(op), count_(count), type_(type) {}

  std::string text() const override { return extents_text({count_}); }
  std::int64_t rows() const override { return 1; }
  std::int64_t cols() const override { return count_; }
  std::size_t in_bytes() const override { return op_ == "sieve" ? 16 : array_bytes(); }
  std::size_t out_bytes() const override { return array_bytes(); }
  double moved_bytes() const override { return (op_ == "sieve" ? 1.0 : 2.0) * static_cast<double>(array_bytes()); }
  /// Of a sieve: the flags, an i32 a number, or the bits, one for two numbers.
  double moved_bytes_of(const rung& which) const override {
    return op_ == "sieve" && writes_bits(which) ? static_cast<double>(count_) / 16 : moved_bytes();
  }
  std::size_t touched_bytes() const override { return op_ == "sieve" ? array_bytes() : 2 * array_bytes(); }

  twill::element_type data_kind() const override { return type_.kind; }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    void* scratch = scratch_.on(stream, scratch_bytes());
    if (rungs_support(op_, type_)) {
      array_rung(stream, op_, which.name, in, out, type_.kind, count_, {scratch, scratch_bytes()}, options);
    } else if (which.promise == rung_promise::copy) {  // bytes are bytes
      array_rung(stream, "reverse", which.name, in, out, twill::element_type::u8, count_ * type_.bytes,
                 {scratch, scratch_bytes()}, options);
    } else if (which.name == "tuned" || which.name == "cpu-tuned") {
      run_operation(stream, in, out, scratch, options.repeats);
    } else {
      leave_out(fmt::format("the ladder's own rungs cannot take {}", type_.name), "their kernels are simple");
    }
  }

  std::string fault(stream_ref stream, const rung& which, block_shape, const void* out) const override {
    return array_fault(stream, op_, which, type_, count_, out);
  }

 private:
  std::size_t array_bytes() const { return static_cast<std::size_t>(count_ * type_.bytes); }
  /// As much as any device asks for.
  std::size_t scratch_bytes() const { return array_bytes() / 16 + (std::size_t{1} << 19); }

  /// As an application calls it, for types that the ladder does not take.
  void run_operation(stream_ref stream, const void* in, void* out, void* scratch, int repeats) const {
    for (int i = 0; i < repeats; ++i) {
      if (op_ == "reverse") {
        reverse_bytes(stream, in, out, type_.bytes, count_);
      } else {
        scan_untyped(stream, in, out, type_.kind, count_, {scratch, scratch_bytes()}, {scan_op::sum, true});
      }
    }
  }

  std::string_view op_;
  std::int64_t count_;
  element_type type_;
  mutable shared_scratch scratch_;
};

std::unique_ptr<ladder_problem> make_problem(std::string_view op, const bench_case& which) {
  const extents& size = which.size;
  if (size.size() != 1) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()),
           fmt::format("the ladder of {} takes an array", op), "write --size COUNT, for example --size 2^22");
  }
  checked_product({size.front(), which.type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<array_problem>(op, size.front(), which.type);
}

std::unique_ptr<ladder_problem> make_scan(const bench_case& which) {
  require_number("scan", which.type);
  return make_problem("scan", which);
}
std::unique_ptr<ladder_problem> make_reverse(const bench_case& which) {
  return make_problem("reverse", which);
}
std::unique_ptr<ladder_problem> make_increment(const bench_case& which) {
  if (!rungs_support("increment", which.type)) {
    refuse("the ladder of increment cannot take " + which.type.name, "known: i32, u32, f32, f64",
           "choose one of these with --type");
  }
  return make_problem("increment", which);
}
std::unique_ptr<ladder_problem> make_sieve(const bench_case& which) {
  if (which.type.kind != twill::element_type::i32) {
    refuse("the sieve cannot take " + which.type.name, "its flags are i32", "leave --type out");
  }
  return make_problem("sieve", which);
}

template <const char* Op>
std::vector<rung> rungs(const device& on) {
  return array_rungs(on, Op);
}

/// Only the size of a type decides which blocks fit.
template <const char* Op>
std::vector<block_shape> array_blocks(const device& on, std::string_view name, std::int64_t bytes) {
  using kind = twill::element_type;
  const kind moved = bytes == 1 ? kind::u8 : bytes == 2 ? kind::u16 : bytes > 8 ? kind::c128 : kind::f64;
  const kind number = bytes <= 4 ? kind::i32 : kind::f64;
  return array_rung_blocks(on, Op, name, std::string_view(Op) == "reverse" && bytes != 4 ? moved : number);
}

constexpr char scan_name[] = "scan", reverse_name[] = "reverse", increment_name[] = "increment", sieve_name[] = "sieve";

}  // namespace

const ladder_operation& scan_operation() {
  static const ladder_operation operation = {"scan", "2^24", rungs<scan_name>, array_blocks<scan_name>, make_scan};
  return operation;
}
const ladder_operation& reverse_operation() {
  static const ladder_operation operation = {"reverse", "2^26", rungs<reverse_name>, array_blocks<reverse_name>,
                                             make_reverse};
  return operation;
}
const ladder_operation& increment_operation() {
  static const ladder_operation operation = {"increment", "2^26", rungs<increment_name>, array_blocks<increment_name>,
                                             make_increment};
  return operation;
}
const ladder_operation& sieve_operation() {
  static const ladder_operation operation = {"sieve", "10^7", rungs<sieve_name>, array_blocks<sieve_name>, make_sieve,
                                             "fill",  "i32"};
  return operation;
}

}  // namespace twill::tool
