// Sums and scans of packed numbers. A part of vector.cpp, which includes it once for each instruction set, within that
// set's namespace. Numbers are added in the order that vectors of 16 bytes suggest, whatever this set's vectors have:
// so all sets give the same bits.

template <class T>
struct scan_vectors {
  using tag = whole_tag<T>;
  using vector = hn::Vec<tag>;
  static constexpr std::int64_t lanes = vector_bytes / sizeof(T), line = line_bytes / sizeof(T),
                                in_block = 16 / sizeof(T);
  static constexpr int blocks = vector_bytes / 16;
  static constexpr std::int64_t ahead = 4096 / sizeof(T);  // of the sums: nearer than 2 KiB, they wait for memory

  // Lane i of each block of 16 bytes gets the sum of lanes 0 ... i of it.
  static HWY_INLINE vector upto(vector x) {
    const tag d;
    x = hn::Add(x, hn::ShiftLeftLanes<1>(d, x));
    if constexpr (in_block > 2) x = hn::Add(x, hn::ShiftLeftLanes<2>(d, x));
    if constexpr (in_block > 4) x = hn::Add(x, hn::ShiftLeftLanes<4>(d, x));
    if constexpr (in_block > 8) x = hn::Add(x, hn::ShiftLeftLanes<8>(d, x));
    return x;
  }

  // The last lane of each block in all of its lanes.
  static HWY_INLINE vector last(vector x) {
    const tag d;
    if constexpr (sizeof(T) == 1) {
      return hn::TableLookupBytes(x, hn::Set(d, 15));
    } else {
      return hn::Broadcast<in_block - 1>(x);
    }
  }

  // Block i of the result is block Bi of x, or zero where that is -1: only the first ones may be.
  template <int B0, int B1, int B2, int B3>
  static HWY_INLINE vector pick(vector x) {
    const tag d;
    const whole_tag<std::uint32_t> words;
    alignas(64) static constexpr std::uint32_t places[16] = {
        4 * (B0 & 3),     4 * (B0 & 3) + 1, 4 * (B0 & 3) + 2, 4 * (B0 & 3) + 3, 4 * (B1 & 3),     4 * (B1 & 3) + 1,
        4 * (B1 & 3) + 2, 4 * (B1 & 3) + 3, 4 * (B2 & 3),     4 * (B2 & 3) + 1, 4 * (B2 & 3) + 2, 4 * (B2 & 3) + 3,
        4 * (B3 & 3),     4 * (B3 & 3) + 1, 4 * (B3 & 3) + 2, 4 * (B3 & 3) + 3};
    const auto picked = hn::TableLookupLanes(hn::BitCast(words, x), hn::SetTableIndices(words, places));
    constexpr int zeros = 4 * ((B0 < 0) + (B1 < 0) + (B2 < 0));
    if constexpr (zeros == 0) return hn::BitCast(d, picked);
    return hn::BitCast(d, hn::IfThenZeroElse(hn::FirstN(words, zeros), picked));
  }

  // What comes before each block in the vector, given the blocks' sums.
  static HWY_INLINE vector before_blocks(vector sums) {
    const tag d;
    if constexpr (blocks == 4) {
      const vector previous = pick<-1, 0, 1, 2>(sums), two = hn::Add(previous, pick<-1, -1, 0, 1>(sums));
      const vector three = hn::Add(previous, pick<0, 0, 0, 2>(two));
      return hn::IfThenElse(hn::FirstN(d, 3 * in_block), two, three);
    } else if constexpr (blocks == 2) {
      return hn::ConcatLowerLower(d, sums, hn::Zero(d));
    } else {
      return hn::Zero(d);
    }
  }

  static HWY_INLINE vector last_block(vector x) {
    if constexpr (blocks == 4) return pick<3, 3, 3, 3>(x);
    if constexpr (blocks == 2) return hn::ConcatUpperUpper(tag(), x, x);
    return x;
  }

  // A line's worth of sums; `add` adds a line to them.
  struct line_sums {
    vector sums[4 / blocks];
    HWY_INLINE line_sums() {
      for (auto& each : sums) each = hn::Zero(tag());
    }
    HWY_INLINE void add(const T* in) {
      const tag d;
      for (int v = 0; v < 4 / blocks; ++v) sums[v] = hn::Add(sums[v], hn::LoadU(d, in + v * lanes));
    }
    HWY_INLINE void all(void* total) const {
      alignas(64) T each[line];
      for (int v = 0; v < 4 / blocks; ++v) hn::Store(sums[v], tag(), each + v * lanes);
      for (std::int64_t left = line / 2; left > 0; left /= 2) {
        for (std::int64_t i = 0; i < left; ++i) each[i] = static_cast<T>(each[2 * i] + each[2 * i + 1]);
      }
      std::memcpy(total, each, sizeof(T));
    }
  };

  static std::int64_t sum(const void* from, std::int64_t count, void* total) {
    const T* in = static_cast<const T*>(from);
    line_sums sums;
    std::int64_t i = 0;
    for (; i + line <= count; i += line) sums.add(in + i);
    sums.all(total);
    return i;
  }

  template <bool Exclusive, bool Streamed>
  static HWY_INLINE void put(vector carry, vector above, vector x, T* out) {
    const tag d;
    const vector result = hn::Add(hn::Add(carry, above), Exclusive ? hn::ShiftLeftLanes<1>(d, x) : x);
    if (Streamed) {
      hn::Stream(result, d, out);
    } else {
      hn::StoreU(result, d, out);
    }
  }

  // Of what comes from one line to the next, one addition waits for another.
  template <bool Exclusive, bool Streamed>
  static std::int64_t scan_lines(const T* in, T* out, std::int64_t count, T& before, const T* next, void* next_sum) {
    const tag d;
    vector carry = hn::Set(d, before);
    line_sums sums;
    std::int64_t i = 0;
    for (; i + line <= count; i += line) {
      if (next != nullptr) {
        hwy::Prefetch(next + i + ahead);
        sums.add(next + i);
      }
      vector x = upto(hn::LoadU(d, in + i)), above = before_blocks(last(x));
      put<Exclusive, Streamed>(carry, above, x, out + i);
      vector so_far = last_block(hn::Add(above, last(x)));
      for (std::int64_t j = lanes; j < line; j += lanes) {
        x = upto(hn::LoadU(d, in + i + j));
        above = hn::Add(so_far, before_blocks(last(x)));
        put<Exclusive, Streamed>(carry, above, x, out + i + j);
        so_far = last_block(hn::Add(above, last(x)));
      }
      carry = hn::Add(carry, so_far);
    }
    before = hn::GetLane(carry);
    if (next != nullptr) sums.all(next_sum);
    return i;
  }

  static std::int64_t scan(const void* from, void* to, std::int64_t count, void* before, bool exclusive, bool streamed,
                           const void* next, void* next_sum) {
    T carry;
    std::memcpy(&carry, before, sizeof carry);
    const auto lines = exclusive ? (streamed ? &scan_lines<true, true> : &scan_lines<true, false>)
                                 : (streamed ? &scan_lines<false, true> : &scan_lines<false, false>);
    const std::int64_t done =
        lines(static_cast<const T*>(from), static_cast<T*>(to), count, carry, static_cast<const T*>(next), next_sum);
    std::memcpy(before, &carry, sizeof carry);
    return done;
  }
};
