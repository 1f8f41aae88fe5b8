// The scan on all cores, one pass over memory: a thread takes a chunk that its cache holds, sums it, waits for the sum
// of all before it, publishes its own, and scans the chunk from the cache, while it sums the one that it takes next.
// Chunks are taken in order, and each thread scans its own in order, so whoever waits waits for a thread at work. The
// chunks do not depend on the number of threads, nor do the bits of the result. Rows that are no longer than a chunk
// wait for nothing: a thread takes several.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "backends/cpu/device.hpp"
#include "backends/cpu/vector.hpp"
#include "operations.hpp"
#include "operators.hpp"

namespace twill::cpu {
namespace {

using detail::scan_args;

constexpr std::int64_t chunk_bytes = std::int64_t{1} << 17;
constexpr std::size_t state_bytes = 32;  // a flag, and up to 16 bytes of sum

struct chunk_list {
  std::int64_t elements, in_row, count;  ///< elements of a chunk, chunks of a row, chunks of all rows
  bool streamed;                         ///< results go past the caches
};

chunk_list chunks_of(const scan_args& a) {
  const std::int64_t elements = chunk_bytes / static_cast<std::int64_t>(element_bytes(a.type));
  const std::int64_t in_row = (a.cols + elements - 1) / elements;
  const bool streamed =
      a.in != a.out && a.rows * a.cols * static_cast<std::int64_t>(element_bytes(a.type)) >= least_streamed;
  return {elements, in_row, in_row * a.rows, streamed};
}

// What comes before a chunk's end in its segment.
template <class Value>
struct chunk_state {
  std::atomic<std::uint32_t> ready;
  Value upto;
};

// Which of vector_functions' sums and scans is of T; -1 for none.
template <class T>
constexpr int vector_kind() {
  if (std::is_same_v<T, float>) return 4;
  if (std::is_same_v<T, double>) return 5;
  if (!std::is_integral_v<T>) return -1;
  return sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
}
template <class Kind>
inline constexpr int vector_sum = -1;
template <class T>
inline constexpr int vector_sum<scan_sum<T>> = vector_kind<T>();

template <class Kind>
typename Kind::value sum_span(const typename Kind::element* in, std::int64_t count) {
  auto total = Kind::identity();
  std::int64_t i = 0;
  if constexpr (vector_sum<Kind> >= 0) {
    if (const auto* v = vectors(); v != nullptr) i = v->sum[vector_sum<Kind>](in, count, &total);
  }
  for (; i < count; ++i) total = Kind::combine(total, Kind::load(in[i]));
  return total;
}

// Scans elements one by one; returns what comes before the next.
template <class Kind>
typename Kind::value scan_each(const typename Kind::element* in, typename Kind::element* out, std::int64_t count,
                               typename Kind::value before, bool exclusive) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto with = Kind::combine(before, Kind::load(in[i]));
    out[i] = Kind::store(exclusive ? before : with);
    before = with;
  }
  return before;
}

// What the vector unit does leaves the rest of the elements; and, when these are full lines, `next_sum`, the sum of as
// many at `next`.
template <class Kind>
void scan_span(const typename Kind::element* in, typename Kind::element* out, std::int64_t count,
               typename Kind::value before, bool exclusive, bool streamed, const typename Kind::element* next = nullptr,
               typename Kind::value* next_sum = nullptr) {
  std::int64_t i = 0;
  if constexpr (vector_sum<Kind> >= 0) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % line_bytes == 0;
    if (const auto* v = vectors(); v != nullptr) {
      i = v->scan[vector_sum<Kind>](in, out, count, &before, exclusive, streamed && aligned, next, next_sum);
    }
  }
  scan_each<Kind>(in + i, out + i, count - i, before, exclusive);
}

// Elements first ... end of a row, cut where segments begin.
template <class Kind>
struct chunk_place {
  const typename Kind::element* in;  // of the row
  typename Kind::element* out;
  std::int64_t first, end;
  const std::int64_t *head, *last;  // the heads in this chunk, and one past them

  chunk_place(const scan_args& a, const chunk_list& chunks, std::int64_t chunk)
      : in(static_cast<const typename Kind::element*>(a.in) + chunk / chunks.in_row * a.in_ld),
        out(static_cast<typename Kind::element*>(a.out) + chunk / chunks.in_row * a.out_ld),
        first(chunk % chunks.in_row * chunks.elements),
        end(std::min(a.cols, first + chunks.elements)),
        head(std::lower_bound(a.offsets, a.offsets + a.segments, first)),
        last(std::lower_bound(head, a.offsets + a.segments, end)) {}

  // Of the segment that goes on after this chunk.
  typename Kind::value sum() const {
    const std::int64_t from = head == last ? first : last[-1];
    return sum_span<Kind>(in + from, end - from);
  }
};

// Waits for the sum before the chunk, and publishes the one behind it, given the chunk's own.
template <class Kind>
typename Kind::value pass_on(const chunk_place<Kind>& here, std::int64_t chunk, typename Kind::value sum,
                             chunk_state<typename Kind::value>* states) {
  auto before = Kind::identity();
  if (here.first != 0) {
    auto& previous = states[chunk - 1];
    while (previous.ready.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    before = previous.upto;
  }
  states[chunk].upto = here.first != 0 && here.head == here.last ? Kind::combine(before, sum) : sum;
  states[chunk].ready.store(1, std::memory_order_release);
  return before;
}

// Scans a chunk, and returns the sum of the one at `next`: in the same loop, if both are full, so that one comes from
// memory while the other goes there.
template <class Kind>
typename Kind::value scan_chunk(const chunk_place<Kind>& here, typename Kind::value before,
                                const chunk_place<Kind>* next, const chunk_list& chunks, bool exclusive) {
  std::int64_t from = here.first;
  for (const auto* head = here.head; head != here.last; ++head) {
    scan_span<Kind>(here.in + from, here.out + from, *head - from, before, exclusive, chunks.streamed);
    from = *head;
    before = Kind::identity();
  }
  const auto is_full = [&](const chunk_place<Kind>& it, std::int64_t begin) {
    return it.end - begin == chunks.elements;
  };
  const bool together = vector_sum<Kind> >= 0 && vectors() != nullptr && next != nullptr && next->head == next->last &&
                        is_full(here, from) && is_full(*next, next->first);
  auto sum = Kind::identity();
  scan_span<Kind>(here.in + from, here.out + from, here.end - from, before, exclusive, chunks.streamed,
                  together ? next->in + next->first : nullptr, &sum);
  if (chunks.streamed && vectors() != nullptr) vectors()->fence();
  return together || next == nullptr ? sum : next->sum();
}

// What one thread does: it takes a chunk while it has still one to scan.
template <class Kind>
void scan_chunks(const scan_args& a, const chunk_list& chunks, std::atomic<std::int64_t>& taken,
                 chunk_state<typename Kind::value>* states) {
  std::int64_t chunk = taken.fetch_add(1, std::memory_order_relaxed);
  if (chunk >= chunks.count) return;
  chunk_place<Kind> here(a, chunks, chunk);
  auto sum = here.sum();
  while (chunk < chunks.count) {
    const std::int64_t following = taken.fetch_add(1, std::memory_order_relaxed);
    const auto before = pass_on(here, chunk, sum, states);
    const bool more = following < chunks.count;
    const chunk_place<Kind> next(a, chunks, more ? following : chunk);
    sum = scan_chunk(here, before, more ? &next : nullptr, chunks, a.options.exclusive);
    chunk = following;
    here = next;
  }
}

// As many rows as make a chunk.
template <class Kind>
void scan_rows(const scan_args& a, const chunk_list& chunks, std::int64_t first, std::int64_t end) {
  using element = typename Kind::element;
  for (std::int64_t row = first; row < end; ++row) {
    scan_span<Kind>(static_cast<const element*>(a.in) + row * a.in_ld, static_cast<element*>(a.out) + row * a.out_ld,
                    a.cols, Kind::identity(), a.options.exclusive, chunks.streamed);
  }
  if (chunks.streamed && vectors() != nullptr) vectors()->fence();
}

}  // namespace

std::size_t scan_scratch(const scan_args& a) {
  const chunk_list chunks = chunks_of(a);
  return static_cast<std::size_t>(chunks.in_row == 1 ? 1 : chunks.count) * state_bytes;
}

void scan(const detail::work_queue& queue, const scan_args& a) {
  const chunk_list chunks = chunks_of(a);
  with_scan_kind(a.type, a.options.op == scan_op::sum, a.options.op == scan_op::max, [&](auto kind) {
    using kind_type = decltype(kind);
    using state = chunk_state<typename kind_type::value>;
    static_assert(sizeof(state) <= state_bytes && alignof(state) <= 16);
    if (chunks.in_row == 1 && a.segments == 0) {
      const std::int64_t rows = std::clamp<std::int64_t>(chunks.elements / a.cols, 1, a.rows);
      const auto tasks = static_cast<std::size_t>((a.rows + rows - 1) / rows);
      if (tasks == 1) return scan_rows<kind_type>(a, chunks, 0, a.rows);
      return team_of(queue).run(tasks, [&](std::size_t task) {
        const std::int64_t first = static_cast<std::int64_t>(task) * rows;
        scan_rows<kind_type>(a, chunks, first, std::min(a.rows, first + rows));
      });
    }
    auto* states = static_cast<state*>(a.scratch);
    for (std::int64_t i = 0; i < chunks.count; ++i) new (states + i) state{{0}, kind_type::identity()};
    std::atomic<std::int64_t> taken{0};
    const auto threads = std::min<std::int64_t>(team_of(queue).size(), chunks.count);
    team_of(queue).run(static_cast<std::size_t>(threads),
                       [&](std::size_t) { scan_chunks<kind_type>(a, chunks, taken, states); });
  });
}

}  // namespace twill::cpu
