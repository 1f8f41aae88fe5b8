// The scan on all cores, one pass over memory: a thread takes a chunk that its cache holds, sums it, waits for the sum
// of all before it, tells what follows, and scans the chunk from the cache. Chunks are taken in order, so whoever waits
// waits for a thread at work. The chunks do not depend on the number of threads, nor do the bits of the result. Rows
// that are no longer than a chunk wait for nothing: a thread takes several.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "device.hpp"
#include "operations.hpp"
#include "scan_kinds.hpp"
#include "vector.hpp"

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

template <class Kind>
void scan_span(const typename Kind::element* in, typename Kind::element* out, std::int64_t count,
               typename Kind::value before, bool exclusive, bool streamed,
               const typename Kind::element* next = nullptr) {
  std::int64_t i = 0;
  if constexpr (vector_sum<Kind> >= 0) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
    if (const auto* v = vectors(); v != nullptr) {
      i = v->scan[vector_sum<Kind>](in, out, count, &before, exclusive, streamed && aligned, next);
    }
  }
  scan_each<Kind>(in + i, out + i, count - i, before, exclusive);
}

// Scans one chunk: elements first ... end of a row, cut where segments begin.
template <class Kind>
void scan_chunk(const scan_args& a, const chunk_list& chunks, std::int64_t chunk, std::int64_t chunks_ahead,
                chunk_state<typename Kind::value>* states) {
  using element = typename Kind::element;
  const std::int64_t row = chunk / chunks.in_row, first = chunk % chunks.in_row * chunks.elements;
  const std::int64_t end = std::min(a.cols, first + chunks.elements);
  const auto* in = static_cast<const element*>(a.in) + row * a.in_ld;
  auto* out = static_cast<element*>(a.out) + row * a.out_ld;
  const auto* head = std::lower_bound(a.offsets, a.offsets + a.segments, first);
  const auto* last = std::lower_bound(head, a.offsets + a.segments, end);  // one past the heads in this chunk

  auto before = Kind::identity();
  auto upto = sum_span<Kind>(in + (head == last ? first : last[-1]), end - (head == last ? first : last[-1]));
  const bool begins = first == 0;
  if (!begins) {
    auto& previous = states[chunk - 1];
    while (previous.ready.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    before = previous.upto;
  }
  if (head == last) upto = begins ? upto : Kind::combine(before, upto);
  states[chunk].upto = upto;
  states[chunk].ready.store(1, std::memory_order_release);

  std::int64_t from = first;
  for (; head != last; ++head) {
    scan_span<Kind>(in + from, out + from, *head - from, before, a.options.exclusive, chunks.streamed);
    from = *head;
    before = Kind::identity();
  }
  // What this thread will sum next, if threads take turns, comes from memory while it adds.
  const std::int64_t ahead = from + chunks_ahead * chunks.elements;
  scan_span<Kind>(in + from, out + from, end - from, before, a.options.exclusive, chunks.streamed,
                  ahead + end - from <= a.cols ? in + ahead : nullptr);
  if (chunks.streamed && vectors() != nullptr) vectors()->fence();
}

// Whole rows, as many as make a chunk.
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
    team_of(queue).run(static_cast<std::size_t>(chunks.count), [&](std::size_t chunk) {
      scan_chunk<kind_type>(a, chunks, static_cast<std::int64_t>(chunk), team_of(queue).size(), states);
    });
  });
}

}  // namespace twill::cpu
