#pragma once

// Loads of the vectors of rows: 8 a thread, all issued before the first use. Misaligned vectors of elements of 1 and 2
// bytes are made of the two aligned ones that they lie in (realign.hpp), except where these lie in part outside of what
// may be read; others are loaded element by element.

#include "gpu/realign.hpp"
#include "tree.hpp"

namespace twill::TWILL_BACKEND::kernels {

__device__ inline word16 vector_of(const std::uint32_t (&words)[4]) {
  return make_word16(words[0], words[1], words[2], words[3]);
}

/// Bytes `begin` to `end`: aligned vectors that lie in it may be read.
struct byte_range {
  const unsigned char *begin, *end;
};

/// A vector of a row, of which bytes `from` to `to` are valid, of 0 to 16; none where they are equal.
struct vector_place {
  const unsigned char* at;
  int from, to;
};

/// How many bytes of a vector are valid, of so many to the end of the row.
__device__ inline int valid_bytes(std::int64_t left) {
  return left <= 0 ? 0 : left < vector_bytes ? static_cast<int>(left) : vector_bytes;
}

/// Loads 8 vectors at a stride of `step` bytes from an aligned address, where `head` bytes precede the row and `left`
/// follow, these included. A predicate between the loads would serialise them, so vectors that may be partial are
/// loaded separately.
template <class Kind>
__device__ inline void load_vectors(word16 (&raw)[8], const unsigned char* first, int step, int head, std::int64_t left,
                                    word16 pad, const op_params& params) {
  if (head == 0 && left >= 7 * step + vector_bytes) {
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = *reinterpret_cast<const word16*>(first + i * step);
    return;
  }
  const int there = left < 0 ? 0 : left < 8 * step ? static_cast<int>(left) : 8 * step, cut = there % step;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    raw[i] = pad;
    const bool whole = there - i * step >= vector_bytes && (head == 0 || i > 0);
    if (whole) raw[i] = *reinterpret_cast<const word16*>(first + i * step);
  }
  if (head > 0) raw[0] = Kind::edge(first, head, there < vector_bytes ? there : vector_bytes, pad, params);
  if (cut == 0 || cut >= vector_bytes || (head > 0 && there == cut)) return;
  const word16 edge = Kind::edge(first + (there - cut), 0, cut, pad, params);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (there - i * step == cut) raw[i] = edge;
  }
}

/// `vector` of units of 4 and more bytes with `pad` behind the first `left` bytes.
__device__ inline word16 padded(const word16& vector, int left, const word16& pad) {
  return make_word16(left > 0 ? word<0>(vector) : word<0>(pad), left > 4 ? word<1>(vector) : word<1>(pad),
                     left > 8 ? word<2>(vector) : word<2>(pad), left > 12 ? word<3>(vector) : word<3>(pad));
}

/// Loads a vector of units of 4 and more bytes, of which `left` bytes are valid, at least a unit: the others are
/// copies.
template <int UnitBytes>
__device__ inline word16 load_units(const unsigned char* at, int left) {
  using unit = typename unit_of_bytes<UnitBytes>::type;
  elements_of<unit> all;
#pragma unroll
  for (int i = 0; i < elements_of<unit>::count; ++i) {
    const int byte = i * UnitBytes, last = left - UnitBytes;
    all.element[i] = *reinterpret_cast<const unit*>(at + (byte < last ? byte : last));
  }
  return bits_as<word16>(all);
}

/// Loads the vectors place(0) to place(7) of units of 4 and more bytes. Where one is not there, `instead` is loaded.
template <int UnitBytes, bool Full, class Place>
__device__ inline void load_unit_vectors(word16 (&raw)[8], const word16& pad, const vector_place& instead,
                                         const Place& place) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const vector_place from = place(i), at = Full || from.to > 0 ? from : instead;
    raw[i] = load_units<UnitBytes>(at.at, Full ? vector_bytes : at.to);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (!Full) raw[i] = padded(raw[i], place(i).to, pad);
  }
}

/// Loads the vectors at(0) to at(7) of elements of 1 and 2 bytes, each from the two aligned ones that it lies in.
template <int UnitBytes, class At>
__device__ inline void load_realigned(word16 (&raw)[8], const At& at) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int skip = misalignment(at(i));
    const auto* vectors = reinterpret_cast<const word16*>(at(i) - skip);
    raw[i] = realigned<UnitBytes>(vectors[0], vectors[1], skip);
  }
}

/// Loads the vectors place(0) to place(7) element by element.
template <class Kind, class Place>
__device__ inline void load_edges(word16 (&raw)[8], const word16& pad, const op_params& params, const Place& place) {
#pragma unroll
  for (int i = 0; i < 8; ++i) raw[i] = pad;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    // Shifted, so that all register indices are compile-time constants.
#pragma unroll
    for (int k = 0; k < 7; ++k) raw[k] = raw[k + 1];
    const vector_place from = place(i);
    raw[7] = Kind::edge(from.at, from.from, from.to, pad, params);
  }
}

/// Loads the vectors place(0) to place(7), at any address, of elements of 4 and more bytes; `pad` replaces bytes that
/// are not valid. No load is predicated: predicates between the loads would serialise them. `full`: all are there, and
/// all of them valid. `instead`: a vector that is there, if any.
template <class Kind, class Place>
__device__ inline void load_elements(word16 (&raw)[8], const word16& pad, const vector_place& instead, bool full,
                                     const Place& place) {
  if (instead.to == 0) {
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = pad;
  } else if (full) {
    load_unit_vectors<Kind::unit_bytes, true>(raw, pad, instead, place);
  } else {
    load_unit_vectors<Kind::unit_bytes, false>(raw, pad, instead, place);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
