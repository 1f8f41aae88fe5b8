#pragma once

// What a reduction calculates with: values, the operations on them, and how the 16-byte vectors of memory become
// values. One class serves several of the public operations where a constant can tell them apart (see reduce_terms).

#include <cstdint>
#include <cstring>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// What tells apart operations and types that share a kernel. Which of them a load uses stands at the load.
struct reduce_terms {
  std::uint64_t flip = 0;   ///< turns an element's bits around: signed integers to biased, a maximum to a minimum
  std::uint64_t limit = 0;  ///< of floating point: the bits of infinity
};

template <class T>
struct complex_value {
  T re, im;
};

/// The smallest key, and where it was: the first of equals.
template <class Key>
struct placed_key {
  Key key;
  std::int64_t place;
};

template <class To, class From>
__device__ inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// The value of the lane `step` above.

template <class T>
__device__ inline T lane_below(T value, unsigned step) {
  return shuffle_down(value, step);
}
template <class T>
__device__ inline complex_value<T> lane_below(complex_value<T> value, unsigned step) {
  return {shuffle_down(value.re, step), shuffle_down(value.im, step)};
}
template <class Key>
__device__ inline placed_key<Key> lane_below(placed_key<Key> value, unsigned step) {
  return {shuffle_down(value.key, step), shuffle_down(value.place, step)};
}

// Operations

template <class T>
struct add {
  using value = T;
  static __device__ value combine(value a, value b) { return a + b; }
};
template <class T>
struct add<complex_value<T>> {
  using value = complex_value<T>;
  static __device__ value combine(value a, value b) { return {a.re + b.re, a.im + b.im}; }
};

template <class T>
struct multiply {
  using value = T;
  static __device__ value combine(value a, value b) { return a * b; }
};
template <class T>
struct multiply<complex_value<T>> {
  using value = complex_value<T>;
  /// The rule of schoolbooks; but 1 changes nothing, which that rule does not grant for infinities and -0.
  static __device__ value combine(value a, value b) {
    if (is_one(b)) return a;
    if (is_one(a)) return b;
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  static __device__ bool is_one(value a) { return a.re == 1 && a.im == 0; }
};

template <class Key>
struct least {
  using value = Key;
  static __device__ value combine(value a, value b) { return b < a ? b : a; }
};
template <class Key>
struct first_least {
  using value = placed_key<Key>;
  static __device__ value combine(value a, value b) {
    const bool second = b.key < a.key || (b.key == a.key && b.place < a.place);
    return second ? b : a;
  }
};

struct bits_or {
  using value = std::uint64_t;
  static __device__ value combine(value a, value b) { return a | b; }
};
struct bits_xor {
  using value = std::uint64_t;
  static __device__ value combine(value a, value b) { return a ^ b; }
};

// Loads: `vector` makes `slots` values of a vector that begins with element `place`. Where the order does not matter to
// the bits of the result, it combines the elements of the vector and fills one slot. `one` is for a single element.

template <class Unit>
struct elements_of {
  static constexpr int count = 16 / static_cast<int>(sizeof(Unit));
  Unit element[count];
};

/// f32, f64, c64, c128 as they are.
template <class T>
struct load_plain {
  using unit = T;
  using value = T;
  static constexpr int slots = 16 / static_cast<int>(sizeof(T));
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms&) {
    const auto all = bits_as<elements_of<T>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = all.element[i];
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms&) { return bits; }
};

struct load_f16 {
  using unit = std::uint16_t;
  using value = float;
  static constexpr int slots = 8;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms&) {
    const auto all = bits_as<elements_of<unit>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = float_from_half(all.element[i]);
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms&) { return float_from_half(bits); }
};

struct load_bf16 {
  using unit = std::uint16_t;
  using value = float;
  static constexpr int slots = 8;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms&) {
    const auto all = bits_as<elements_of<std::uint32_t>>(raw);
#pragma unroll
    for (int i = 0; i < slots; i += 2) {
      to[i] = bits_as<float>(all.element[i / 2] << 16);
      to[i + 1] = bits_as<float>(all.element[i / 2] & 0xffff0000u);
    }
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms&) {
    return bits_as<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// The sum of the integers of a vector. terms.flip: their sign bit when they are signed, else 0; flipped they are
/// unsigned and too large by as much.
template <class Unit>
struct load_integer_sum {
  using unit = Unit;
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto flip = static_cast<Unit>(terms.flip);
    constexpr int count = elements_of<Unit>::count;
    if constexpr (sizeof(Unit) <= 2) {
      to[0] = narrow_sum(bits_as<elements_of<std::uint32_t>>(raw), flip * (sizeof(Unit) == 1 ? 0x01010101u : 0x10001u));
    } else {
      const auto all = bits_as<elements_of<Unit>>(raw);
      to[0] = 0;
#pragma unroll
      for (int i = 0; i < count; ++i) to[0] += static_cast<Unit>(all.element[i] ^ flip);
    }
    to[0] -= static_cast<std::uint64_t>(count) * flip;
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms& terms) {
    return static_cast<Unit>(bits ^ static_cast<Unit>(terms.flip)) - static_cast<value>(static_cast<Unit>(terms.flip));
  }

 private:
  // Pairs of bytes or halves in one word: 8 bytes, or 2 halves, cannot fill 16 or 32 bits.
  static __device__ std::uint32_t narrow_sum(const elements_of<std::uint32_t>& words, std::uint32_t flip) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t word = words.element[i] ^ flip;
      if (sizeof(Unit) == 1) {
        sum += (word & 0xff00ffu) + (word >> 8 & 0xff00ffu);
      } else {
        sum += (word & 0xffffu) + (word >> 16);
      }
    }
    return sizeof(Unit) == 1 ? (sum & 0xffffu) + (sum >> 16) : sum;
  }
};

/// The product of the integers of a vector, modulo 2^64; terms.flip as for sums.
template <class Unit>
struct load_integer_product {
  using unit = Unit;
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    to[0] = 1;
#pragma unroll
    for (int i = 0; i < elements_of<Unit>::count; ++i) to[0] *= one(all.element[i], 0, terms);
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms& terms) {
    return load_integer_sum<Unit>::one(bits, 0, terms);
  }
};

template <int Bytes>
using key_for = std::conditional_t<Bytes == 8, std::uint64_t, std::uint32_t>;

/// Integers as keys that order as unsigned numbers: terms.flip is the sign bit of signed ones, inverted for a maximum.
template <class Unit>
struct integer_key {
  using key = key_for<sizeof(Unit)>;
  static __device__ key of(Unit bits, const reduce_terms& terms) {
    return static_cast<Unit>(bits ^ static_cast<Unit>(terms.flip));
  }
};

/// Floating point as keys: NaN first of all, -0 before +0. terms.flip: 0 for a minimum, all ones for a maximum.
template <class Unit>
struct float_key {
  using key = key_for<sizeof(Unit)>;
  static __device__ key of(Unit bits, const reduce_terms& terms) {
    constexpr Unit top = static_cast<Unit>(Unit{1} << (8 * sizeof(Unit) - 1));
    const Unit turned = static_cast<Unit>((bits & top) != 0 ? ~bits : bits | top);
    const bool is_nan = static_cast<Unit>(bits & static_cast<Unit>(~top)) > static_cast<Unit>(terms.limit);
    return is_nan ? Unit{0} : static_cast<Unit>(turned ^ static_cast<Unit>(terms.flip));
  }
};

template <class Unit, template <class> class Key>
struct load_least {
  using unit = Unit;
  using value = typename Key<Unit>::key;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    to[0] = Key<Unit>::of(all.element[0], terms);
#pragma unroll
    for (int i = 1; i < elements_of<Unit>::count; ++i) {
      to[0] = least<value>::combine(to[0], Key<Unit>::of(all.element[i], terms));
    }
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms& terms) { return Key<Unit>::of(bits, terms); }
};

template <class Unit, template <class> class Key>
struct load_first_least {
  using unit = Unit;
  using value = placed_key<typename Key<Unit>::key>;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t place, const reduce_terms& terms) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    int best = 0;
    auto key = Key<Unit>::of(all.element[0], terms);
#pragma unroll
    for (int i = 1; i < elements_of<Unit>::count; ++i) {
      const auto other = Key<Unit>::of(all.element[i], terms);
      if (other < key) best = i;
      key = other < key ? other : key;
    }
    to[0] = {key, place + best};
  }
  static __device__ value one(unit bits, std::int64_t place, const reduce_terms& terms) {
    return {Key<Unit>::of(bits, terms), place};
  }
};

/// How many elements are not zero; terms.flip: the bits that count (all but the sign of floating point). terms.limit of
/// 1 counts those that are zero instead.
template <class Unit>
struct load_nonzero {
  using unit = Unit;
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    unsigned count = 0;
#pragma unroll
    for (int i = 0; i < elements_of<Unit>::count; ++i) {
      count += static_cast<unsigned>(one(all.element[i], 0, terms));
    }
    to[0] = count;
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms& terms) {
    return ((bits & static_cast<Unit>(terms.flip)) != 0 ? 1u : 0u) ^ static_cast<unsigned>(terms.limit);
  }
};
template <>
struct load_nonzero<complex_value<double>> {
  using unit = complex_value<double>;
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto parts = bits_as<elements_of<std::uint64_t>>(raw);
    to[0] = (((parts.element[0] | parts.element[1]) & terms.flip) != 0 ? 1u : 0u) ^ terms.limit;
  }
  static __device__ value one(unit element, std::int64_t place, const reduce_terms& terms) {
    value to[1];
    vector(to, bits_as<word16>(element), place, terms);
    return to[0];
  }
};

/// Words of bits, whatever the elements in them; terms.flip turns `and` into `or`.
template <class Unit, class Op>
struct load_bits {
  using unit = Unit;
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto halves = bits_as<elements_of<std::uint64_t>>(raw);
    to[0] = Op::combine(halves.element[0] ^ terms.flip, halves.element[1] ^ terms.flip);
  }
  static __device__ value one(unit bits, std::int64_t, const reduce_terms& terms) {
    return static_cast<Unit>(bits ^ static_cast<Unit>(terms.flip));
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
