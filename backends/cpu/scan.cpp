// The scan on all cores, one pass over memory: a thread takes a chunk that its cache holds, sums it, waits for the sum
// of all before it, tells what follows, and scans the chunk from the cache. Chunks are taken in order, so whoever waits
// waits for a thread at work. The chunks do not depend on the number of threads, nor do the bits of the result.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "device.hpp"
#include "operations.hpp"
#include "scan_kinds.hpp"

namespace twill::cpu {
namespace {

using detail::scan_args;

constexpr std::int64_t chunk_bytes = std::int64_t{1} << 17;
constexpr std::size_t state_bytes = 32;  // a flag, and up to 16 bytes of sum

struct chunk_list {
  std::int64_t elements, in_row, count;  ///< elements of a chunk, chunks of a row, chunks of all rows
};

chunk_list chunks_of(const scan_args& a) {
  const std::int64_t elements = chunk_bytes / static_cast<std::int64_t>(element_bytes(a.type));
  const std::int64_t in_row = (a.cols + elements - 1) / elements;
  return {elements, in_row, in_row * a.rows};
}

// What comes before a chunk's end in its segment.
template <class Value>
struct chunk_state {
  std::atomic<std::uint32_t> ready;
  Value upto;
};

// Eight sums at a time, which a compiler can keep in one register.
template <class Kind>
typename Kind::value sum_span(const typename Kind::element* in, std::int64_t count) {
  constexpr int lanes = 8;
  typename Kind::value sums[lanes];
  for (auto& sum : sums) sum = Kind::identity();
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int l = 0; l < lanes; ++l) sums[l] = Kind::combine(sums[l], Kind::load(in[i + l]));
  }
  for (; i < count; ++i) sums[i % lanes] = Kind::combine(sums[i % lanes], Kind::load(in[i]));
  for (int l = 1; l < lanes; ++l) sums[0] = Kind::combine(sums[0], sums[l]);
  return sums[0];
}

template <class Kind>
void scan_span(const typename Kind::element* in, typename Kind::element* out, std::int64_t count,
               typename Kind::value before, bool exclusive) {
  if (exclusive) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto with = Kind::combine(before, Kind::load(in[i]));
      out[i] = Kind::store(before);
      before = with;
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      before = Kind::combine(before, Kind::load(in[i]));
      out[i] = Kind::store(before);
    }
  }
}

// Scans one chunk: elements first ... end of a row, cut where segments begin.
template <class Kind>
void scan_chunk(const scan_args& a, const chunk_list& chunks, std::int64_t chunk,
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
    scan_span<Kind>(in + from, out + from, *head - from, before, a.options.exclusive);
    from = *head;
    before = Kind::identity();
  }
  scan_span<Kind>(in + from, out + from, end - from, before, a.options.exclusive);
}

}  // namespace

std::size_t scan_scratch(const scan_args& a) {
  return static_cast<std::size_t>(chunks_of(a).count) * state_bytes;
}

void scan(const detail::work_queue& queue, const scan_args& a) {
  const chunk_list chunks = chunks_of(a);
  with_scan_kind(a.type, a.options.op == scan_op::sum, a.options.op == scan_op::max, [&](auto kind) {
    using kind_type = decltype(kind);
    using state = chunk_state<typename kind_type::value>;
    static_assert(sizeof(state) <= state_bytes && alignof(state) <= 16);
    auto* states = static_cast<state*>(a.scratch);
    for (std::int64_t i = 0; i < chunks.count; ++i) new (states + i) state{{0}, kind_type::identity()};
    team_of(queue).run(static_cast<std::size_t>(chunks.count), [&](std::size_t chunk) {
      scan_chunk<kind_type>(a, chunks, static_cast<std::int64_t>(chunk), states);
    });
  });
}

}  // namespace twill::cpu
