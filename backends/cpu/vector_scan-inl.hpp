// Sums and scans of packed numbers. A part of vector.cpp, which includes it once for each instruction set, within that
// set's namespace. Vectors have 16 bytes on all of them: so the order of additions, and with it the bits, is the same.

template <class T>
struct scan_vectors {
  static constexpr std::int64_t lanes = 16 / sizeof(T), block = 4 * lanes;  // a block is a line of the cache
  using tag = hn::FixedTag<T, 16 / sizeof(T)>;
  using vector = hn::Vec<tag>;

  // Lane i gets the sum of lanes 0 ... i.
  static HWY_INLINE vector upto(vector x) {
    const tag d;
    x = hn::Add(x, hn::ShiftLeftLanes<1>(d, x));
    if constexpr (lanes > 2) x = hn::Add(x, hn::ShiftLeftLanes<2>(d, x));
    if constexpr (lanes > 4) x = hn::Add(x, hn::ShiftLeftLanes<4>(d, x));
    if constexpr (lanes > 8) x = hn::Add(x, hn::ShiftLeftLanes<8>(d, x));
    return x;
  }

  // The last lane in every lane.
  static HWY_INLINE vector last(vector x) {
    const tag d;
    if constexpr (sizeof(T) == 1) {
      return hn::TableLookupBytes(x, hn::Set(d, 15));
    } else {
      return hn::Broadcast<lanes - 1>(x);
    }
  }

  static std::int64_t sum(const void* from, std::int64_t count, void* total) {
    const tag d;
    const T* in = static_cast<const T*>(from);
    vector a = hn::Zero(d), b = a, c = a, e = a;
    std::int64_t i = 0;
    for (; i + block <= count; i += block) {
      a = hn::Add(a, hn::LoadU(d, in + i));
      b = hn::Add(b, hn::LoadU(d, in + i + lanes));
      c = hn::Add(c, hn::LoadU(d, in + i + 2 * lanes));
      e = hn::Add(e, hn::LoadU(d, in + i + 3 * lanes));
    }
    const T all = hn::GetLane(last(upto(hn::Add(hn::Add(a, b), hn::Add(c, e)))));
    std::memcpy(total, &all, sizeof all);
    return i;
  }

  template <bool Exclusive, bool Streamed>
  static HWY_INLINE void store(vector sums, vector before, T* out) {
    const tag d;
    const vector result = hn::Add(before, Exclusive ? hn::ShiftLeftLanes<1>(d, sums) : sums);
    if (Streamed) {
      hn::Stream(result, d, out);
    } else {
      hn::StoreU(result, d, out);
    }
  }

  // Of what comes from one block to the next, one addition waits for another.
  template <bool Exclusive, bool Streamed>
  static std::int64_t scan_blocks(const T* in, T* out, std::int64_t count, T& before, const T* next) {
    const tag d;
    vector carry = hn::Set(d, before);
    std::int64_t i = 0;
    for (; i + block <= count; i += block) {
      if (next != nullptr) hwy::Prefetch(next + i);
      const vector a = upto(hn::LoadU(d, in + i)), b = upto(hn::LoadU(d, in + i + lanes));
      const vector c = upto(hn::LoadU(d, in + i + 2 * lanes)), e = upto(hn::LoadU(d, in + i + 3 * lanes));
      const vector sum_a = last(a), sum_b = hn::Add(sum_a, last(b)), sum_c = hn::Add(sum_b, last(c));
      store<Exclusive, Streamed>(a, carry, out + i);
      store<Exclusive, Streamed>(b, hn::Add(carry, sum_a), out + i + lanes);
      store<Exclusive, Streamed>(c, hn::Add(carry, sum_b), out + i + 2 * lanes);
      store<Exclusive, Streamed>(e, hn::Add(carry, sum_c), out + i + 3 * lanes);
      carry = hn::Add(carry, hn::Add(sum_c, last(e)));
    }
    before = hn::GetLane(carry);
    return i;
  }

  static std::int64_t scan(const void* from, void* to, std::int64_t count, void* before, bool exclusive, bool streamed,
                           const void* next) {
    const T* in = static_cast<const T*>(from);
    T* out = static_cast<T*>(to);
    T carry;
    std::memcpy(&carry, before, sizeof carry);
    const auto blocks = exclusive ? (streamed ? &scan_blocks<true, true> : &scan_blocks<true, false>)
                                  : (streamed ? &scan_blocks<false, true> : &scan_blocks<false, false>);
    const std::int64_t done = blocks(in, out, count, carry, static_cast<const T*>(next));
    std::memcpy(before, &carry, sizeof carry);
    return done;
  }
};
