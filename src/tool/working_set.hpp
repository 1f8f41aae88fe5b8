#pragma once

#include <cstddef>
#include <optional>

#include <twill/buffer.hpp>

#include "problem.hpp"

namespace twill::tool {

/// Memory of one device for all cases of a bench. A cold run takes another pair of input and output each time, together
/// at least four times the last-level cache, so that no cache still holds the data of the run before.
class working_set {
 public:
  /// `exact`: buffers have the size of a problem and not more, so that a device with checks finds what leaves them.
  working_set(stream_ref stream, bool cold, bool exact) : stream_(stream), cold_(cold), exact_(exact) {}

  /// Says beforehand that `problem` will come: memory is allocated once, for the largest.
  void expect(const ladder_problem& problem);

  /// Lays out pairs for `problem`, their inputs with its data; the first input begins with byte 0 of the data.
  /// Throws: out_of_memory.
  void lay_out(const ladder_problem& problem);

  int pairs() const { return static_cast<int>(now_.pairs); }
  const void* in(int pair) const { return at(*in_, now_.in_pitch, pair); }
  void* out(int pair) const { return at(*out_, now_.out_pitch, pair); }

  /// Whether memory was too small for all the pairs that a cold run should go round.
  bool lacks_pairs() const { return now_.lacks_pairs; }

 private:
  struct layout {
    std::size_t in_pitch = 0, out_pitch = 0, pairs = 1;
    bool lacks_pairs = false;
    std::size_t in_bytes() const { return in_pitch * pairs; }
    std::size_t out_bytes() const { return out_pitch * pairs; }
  };

  layout layout_of(const ladder_problem& problem) const;
  void fill(const ladder_problem& problem, bool is_new);
  static void* at(const raw_buffer& from, std::size_t pitch, int pair) {
    return static_cast<unsigned char*>(from.data()) + pitch * static_cast<std::size_t>(pair);
  }

  stream_ref stream_;
  bool cold_, exact_;
  layout now_;
  std::size_t in_expected_ = 0, out_expected_ = 0;
  std::optional<raw_buffer> in_, out_;
  std::size_t filled_ = 0;  // bytes of in_ that hold the data of filled_kind_
  twill::element_type filled_kind_ = twill::element_type::u8;
};

}  // namespace twill::tool
