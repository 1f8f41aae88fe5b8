// Reductions. A part of vector.cpp, which includes it once for each instruction set, within that set's namespace.

template <class T>
using whole_tag = hn::FixedTag<T, vector_bytes / sizeof(T)>;

// A chunk of the tree, and what else is walked in eight pages side by side: more lines are in flight than the
// processor's prefetcher asks for in one page.
constexpr std::int64_t page_bytes = 4096, chunk_pages = 8;

// The line that is read when the next chunk is.
HWY_INLINE void prefetch_next(const void* at) {
  hwy::Prefetch(static_cast<const unsigned char*>(at) + chunk_pages * page_bytes);
}

// How elements in memory become lanes to calculate with; a complex number is two of them.
template <class Lane, int Unit>
struct plain_numbers {
  using lane = Lane;
  static constexpr int unit = Unit, row = 4096 / sizeof(lane);
  static HWY_INLINE hn::Vec<whole_tag<lane>> load(const void* in, std::int64_t at) {
    return hn::LoadU(whole_tag<lane>(), static_cast<const lane*>(in) + at);
  }
};
template <bool Bfloat>
struct half_numbers {
  using lane = float;
  static constexpr int unit = 1, row = 2048;
  static HWY_INLINE hn::Vec<whole_tag<float>> load(const void* in, std::int64_t at) {
    const whole_tag<float> d;
    const whole_tag<std::uint32_t> words;
    const auto half =
        hn::LoadU(hn::Rebind<std::uint16_t, whole_tag<float>>(), static_cast<const std::uint16_t*>(in) + at);
    if constexpr (Bfloat) {
      return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, half)));
    } else {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, whole_tag<float>>(), half));
#else
      // As `number` of reduce_kinds.hpp: the exponents' biases differ by 112.
      const auto bits = hn::PromoteTo(words, half), magnitude = hn::And(bits, hn::Set(words, 0x7fffu));
      const auto special = hn::VecFromMask(words, hn::Gt(magnitude, hn::Set(words, 0x7bffu)));
      const auto sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(words, 0x7fffu), bits));
      const auto scaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
      return hn::Or(scaled, hn::BitCast(d, hn::Or(sign, hn::And(special, hn::Set(words, 0x7f800000u)))));
#endif
    }
  }
};

template <class V>
HWY_INLINE V combine(V a, V b, bool product) {
  return product ? hn::Mul(a, b) : hn::Add(a, b);
}

// The tree of reduce_tree.hpp: rows, then neighbours inside of 16 bytes, then parts. Lanes are left to the caller.
template <class Numbers, bool Product>
struct chunk_tree {
  using lane = typename Numbers::lane;
  using tag = whole_tag<lane>;
  static constexpr int lanes = vector_bytes / sizeof(lane);

  template <class F>
  static HWY_INLINE hn::Vec<tag> eight(F&& each) {
    const auto a = combine(each(0), each(1), Product), b = combine(each(2), each(3), Product);
    const auto c = combine(each(4), each(5), Product), e = combine(each(6), each(7), Product);
    return combine(combine(a, b, Product), combine(c, e, Product), Product);
  }

  // `left` lanes become half as many.
  static HWY_INLINE void neighbours(lane* values, int left) {
    using bits = hwy::UnsignedFromSize<sizeof(lane) * Numbers::unit>;
    const tag d;
    const whole_tag<bits> units;
    for (int i = 0; i < left; i += 2 * lanes) {
      hn::Vec<whole_tag<bits>> a, b;
      hn::LoadInterleaved2(units, reinterpret_cast<const bits*>(values + i), a, b);
      hn::Store(combine(hn::BitCast(d, a), hn::BitCast(d, b), Product), d, values + i / 2);
    }
  }

  static void run(const void* in, void* to) {
    const tag d;
    constexpr int threads = 256 * Numbers::unit, part = threads / 8, element = 4096 / Numbers::row;
    lane* values = static_cast<lane*>(to);
    for (int i = 0; i < Numbers::row; i += lanes) {
      for (int row = 0; row < 8; ++row) prefetch_next(static_cast<const unsigned char*>(in) + 4096 * row + element * i);
      hn::Store(eight([&](int row) HWY_ATTR { return Numbers::load(in, row * Numbers::row + i); }), d, values + i);
    }
    if constexpr (Numbers::row > threads) {
      for (int left = Numbers::row; left > threads; left /= 2) neighbours(values, left);
    }
    for (int i = 0; i < part; i += lanes) {
      hn::Store(eight([&](int p) HWY_ATTR { return hn::Load(d, values + p * part + i); }), d, values + i);
    }
  }
};

// --- what may be combined in any order -------------------------------------------------------------------------------

template <class T>
struct any_order {
  using tag = whole_tag<T>;
  using vector = hn::Vec<tag>;
  static constexpr std::int64_t lanes = vector_bytes / sizeof(T);

  static HWY_INLINE std::uint64_t added(hn::Vec<whole_tag<std::uint64_t>> sums) {
    alignas(64) std::uint64_t each[vector_bytes / 8];
    hn::Store(sums, whole_tag<std::uint64_t>(), each);
    std::uint64_t all = 0;
    for (const std::uint64_t one : each) all += one;
    return all;
  }

  // The even and the odd lanes, in lanes twice as wide.
  template <class Wide>
  static HWY_INLINE hn::Vec<whole_tag<Wide>> in_pairs(hn::Vec<whole_tag<hwy::UnsignedFromSize<sizeof(Wide) / 2>>> x) {
    const whole_tag<Wide> wide;
    constexpr int bits = 4 * sizeof(Wide);
    const auto pairs = hn::BitCast(wide, x);
    return hn::Add(hn::ShiftRight<bits>(pairs), hn::And(pairs, hn::Set(wide, (Wide{1} << bits) - 1)));
  }

  // Calls f with each full vector.
  template <class F>
  static HWY_INLINE std::int64_t each_vector(const void* from, std::int64_t count, F&& f) {
    constexpr std::int64_t page = page_bytes / sizeof(T);
    const tag d;
    const T* in = static_cast<const T*>(from);
    std::int64_t i = 0;
    while (count - i >= lanes) {
      const bool chunk = count - i >= chunk_pages * page;
      const std::int64_t pages = chunk ? chunk_pages : 1, length = chunk ? page : (count - i) / lanes * lanes;
      for (std::int64_t j = i; j < i + length; j += lanes) {
        for (std::int64_t p = 0; p < pages; ++p) {
          prefetch_next(in + j + p * page);
          f(hn::LoadU(d, in + j + p * page));
        }
      }
      i += pages * length;
    }
    return i;
  }

  static std::int64_t sum(const void* from, std::int64_t count, std::uint64_t flip, std::uint64_t& total) {
    const tag d;
    const auto flipped = hn::Set(d, static_cast<T>(flip));
    auto sums = hn::Zero(whole_tag<std::uint64_t>());
    const std::int64_t end = each_vector(from, count, [&](vector bits) HWY_ATTR {
      const auto x = hn::Xor(bits, flipped);
      if constexpr (sizeof(T) == 1) sums = hn::Add(sums, hn::SumsOf8(x));
      if constexpr (sizeof(T) == 2) sums = hn::Add(sums, in_pairs<std::uint64_t>(in_pairs<std::uint32_t>(x)));
      if constexpr (sizeof(T) == 4) sums = hn::Add(sums, in_pairs<std::uint64_t>(x));
      if constexpr (sizeof(T) == 8) sums = hn::Add(sums, x);
    });
    total = added(sums);
    return end;
  }

  static HWY_INLINE vector key_of(vector x, vector flip, vector infinity) {
    const tag d;
    const hn::RebindToSigned<tag> numbers;
    const auto top = hn::Set(d, static_cast<T>(T{1} << (8 * sizeof(T) - 1)));
    const auto sign = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(numbers, x)));
    const auto magnitude = hn::BitCast(numbers, hn::AndNot(top, x));
    const auto nan = hn::RebindMask(d, hn::Gt(magnitude, hn::BitCast(numbers, infinity)));
    return hn::IfThenZeroElse(nan, hn::Xor(hn::Xor(x, hn::Or(sign, top)), flip));
  }

  template <bool Float>
  static std::int64_t least_key(const T* in, std::int64_t count, const key_rule& rule, std::uint64_t& least) {
    const tag d;
    const auto flip = hn::Set(d, static_cast<T>(rule.flip)), infinity = hn::Set(d, static_cast<T>(rule.infinity));
    auto keys = hn::Set(d, static_cast<T>(~T{0}));
    const std::int64_t end = each_vector(in, count, [&](vector x) HWY_ATTR {
      keys = hn::Min(keys, Float ? key_of(x, flip, infinity) : hn::Xor(x, flip));
    });
    alignas(64) T each[lanes];
    hn::Store(keys, d, each);
    T first = each[0];
    for (const T one : each) first = one < first ? one : first;
    least = first;
    return end;
  }

  static std::int64_t least(const void* from, std::int64_t count, const key_rule& rule, std::uint64_t& least) {
    const T* in = static_cast<const T*>(from);
    if constexpr (sizeof(T) > 1) {
      if (rule.is_float) return least_key<true>(in, count, rule, least);
    }
    return least_key<false>(in, count, rule, least);
  }

  static std::int64_t bits(const void* from, std::int64_t count, combined_bits& found) {
    const tag d;
    auto all = hn::Set(d, static_cast<T>(~T{0})), any = hn::Zero(d), odd = any;
    const std::int64_t end = each_vector(from, count, [&](vector x) HWY_ATTR {
      all = hn::And(all, x);
      any = hn::Or(any, x);
      odd = hn::Xor(odd, x);
    });
    alignas(64) T each[3][lanes];
    hn::Store(all, d, each[0]);
    hn::Store(any, d, each[1]);
    hn::Store(odd, d, each[2]);
    found = {~std::uint64_t{0}, 0, 0};
    for (int lane = 0; lane < lanes; ++lane) {
      found.all &= each[0][lane];
      found.any |= each[1][lane];
      found.odd ^= each[2][lane];
    }
    return end;
  }

  static std::int64_t nonzero(const void* from, std::int64_t count, std::uint64_t mask, nonzero_elements& found) {
    const tag d;
    const auto counting = hn::Set(d, static_cast<T>(mask)), zero = hn::Zero(d);
    auto some_zero = zero, all_zero = hn::Set(d, static_cast<T>(~T{0})), odd_zeros = zero;
    const std::int64_t end = each_vector(from, count, [&](vector x) HWY_ATTR {
      const auto is_zero = hn::VecFromMask(d, hn::Eq(hn::And(x, counting), zero));
      some_zero = hn::Or(some_zero, is_zero);
      all_zero = hn::And(all_zero, is_zero);
      odd_zeros = hn::Xor(odd_zeros, is_zero);
    });
    alignas(64) T each[3][lanes];
    hn::Store(some_zero, d, each[0]);
    hn::Store(all_zero, d, each[1]);
    hn::Store(odd_zeros, d, each[2]);
    found = {true, false, end % 2 != 0};
    for (int lane = 0; lane < lanes; ++lane) {
      found.all = found.all && each[0][lane] == 0;
      found.any = found.any || each[1][lane] == 0;
      found.odd = found.odd != (each[2][lane] != 0);
    }
    return end;
  }
};

constexpr reduce_functions reductions = {
    {&chunk_tree<half_numbers<false>, false>::run, &chunk_tree<half_numbers<true>, false>::run,
     &chunk_tree<plain_numbers<float, 1>, false>::run, &chunk_tree<plain_numbers<double, 1>, false>::run,
     &chunk_tree<plain_numbers<float, 2>, false>::run, &chunk_tree<plain_numbers<double, 2>, false>::run},
    {&chunk_tree<half_numbers<false>, true>::run, &chunk_tree<half_numbers<true>, true>::run,
     &chunk_tree<plain_numbers<float, 1>, true>::run, &chunk_tree<plain_numbers<double, 1>, true>::run},
    {&any_order<std::uint8_t>::sum, &any_order<std::uint16_t>::sum, &any_order<std::uint32_t>::sum,
     &any_order<std::uint64_t>::sum},
    {&any_order<std::uint8_t>::least, &any_order<std::uint16_t>::least, &any_order<std::uint32_t>::least,
     &any_order<std::uint64_t>::least},
    &any_order<std::uint64_t>::bits,
    {&any_order<std::uint8_t>::nonzero, &any_order<std::uint16_t>::nonzero, &any_order<std::uint32_t>::nonzero,
     &any_order<std::uint64_t>::nonzero}};
