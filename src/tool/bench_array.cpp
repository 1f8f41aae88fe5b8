// The ladders over arrays: scan, reverse, increment, sieve.

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/ladder/array.hpp>
#include <twill/reverse.hpp>
#include <twill/scan.hpp>

#include "array_check.hpp"
#include "format.hpp"
#include "ladder_problem.hpp"
#include "numbers.hpp"
#include "refuse.hpp"
#include "shared_scratch.hpp"

namespace twill::tool {
namespace {

/// Whether all rungs of a ladder take elements of a type, not only those that copy or call the operation.
bool rungs_take(std::string_view op, const element_type& type) {
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
    return op_ == "sieve" && leaves_bits(which) ? static_cast<double>(count_) / 16 : moved_bytes();
  }
  std::size_t touched_bytes() const override { return op_ == "sieve" ? array_bytes() : 2 * array_bytes(); }

  void write_input(void* to, std::uint64_t first, std::size_t bytes) const override {
    write_numbers(to, first, bytes, type_.kind);
  }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    void* scratch = scratch_.on(stream, scratch_bytes());
    if (rungs_take(op_, type_)) {
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

std::unique_ptr<ladder_problem> make_problem(std::string_view op, const extents& size, const element_type& type) {
  if (size.size() != 1) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()),
           fmt::format("the ladder of {} takes an array", op), "write --size COUNT, for example --size 2^22");
  }
  checked_product({size.front(), type.bytes, 2}, fmt::format("size {}", extents_text(size)));
  return std::make_unique<array_problem>(op, size.front(), type);
}

std::unique_ptr<ladder_problem> make_scan(const extents& size, const element_type& type) {
  require_number("scan", type);
  return make_problem("scan", size, type);
}
std::unique_ptr<ladder_problem> make_reverse(const extents& size, const element_type& type) {
  return make_problem("reverse", size, type);
}
std::unique_ptr<ladder_problem> make_increment(const extents& size, const element_type& type) {
  if (!rungs_take("increment", type)) {
    refuse("the ladder of increment cannot take " + type.name, "known: i32, u32, f32, f64",
           "choose one of these with --type");
  }
  return make_problem("increment", size, type);
}
std::unique_ptr<ladder_problem> make_sieve(const extents& size, const element_type& type) {
  if (type.kind != twill::element_type::i32) {
    refuse("the sieve cannot take " + type.name, "its flags are i32", "leave --type out");
  }
  return make_problem("sieve", size, type);
}

template <const char* Op>
std::vector<rung> rungs(const device& on) {
  return array_rungs(on, Op);
}

/// Only the size of a type decides which blocks fit.
template <const char* Op>
std::vector<block_shape> blocks(const device& on, std::string_view name, std::int64_t bytes) {
  using kind = twill::element_type;
  const kind moved = bytes == 1 ? kind::u8 : bytes == 2 ? kind::u16 : bytes > 8 ? kind::c128 : kind::f64;
  const kind number = bytes <= 4 ? kind::i32 : kind::f64;
  return array_rung_blocks(on, Op, name, std::string_view(Op) == "reverse" && bytes != 4 ? moved : number);
}

constexpr char scan_name[] = "scan", reverse_name[] = "reverse", increment_name[] = "increment", sieve_name[] = "sieve";

}  // namespace

const ladder_operation& scan_operation() {
  static const ladder_operation operation = {"scan", "2^24", rungs<scan_name>, blocks<scan_name>, make_scan};
  return operation;
}
const ladder_operation& reverse_operation() {
  static const ladder_operation operation = {"reverse", "2^26", rungs<reverse_name>, blocks<reverse_name>,
                                             make_reverse};
  return operation;
}
const ladder_operation& increment_operation() {
  static const ladder_operation operation = {"increment", "2^26", rungs<increment_name>, blocks<increment_name>,
                                             make_increment};
  return operation;
}
const ladder_operation& sieve_operation() {
  static const ladder_operation operation = {"sieve",    "10^7", rungs<sieve_name>, blocks<sieve_name>,
                                             make_sieve, "fill", nullptr,           "i32"};
  return operation;
}

}  // namespace twill::tool
