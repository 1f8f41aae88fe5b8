#include "moved.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include <twill/buffer.hpp>

#include "data.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{64} << 20;

/// Whether the data from byte `first` on stands at `found`. Bytes is a power of two up to 8, or 0 for any up to 64.
template <int Bytes>
bool holds_data(const unsigned char* found, std::int64_t first, std::int64_t bytes) {
  if constexpr (Bytes != 0) {
    const std::uint64_t data = data_word(static_cast<std::uint64_t>(first / 8)) >> first % 8 * 8;
    return std::memcmp(found, &data, Bytes) == 0;
  }
  unsigned char expected[72];
  for (std::int64_t word = 0; word < (first % 8 + bytes + 7) / 8; ++word) {
    const std::uint64_t data = data_word(static_cast<std::uint64_t>(first / 8 + word));
    std::memcpy(expected + word * 8, &data, 8);
  }
  return std::memcmp(found, expected + first % 8, static_cast<std::size_t>(bytes)) == 0;
}

/// The elements in the order of the output.
class walker {
 public:
  walker(const moved_elements& moved, std::int64_t element)
      : moved_(moved), index_(moved.dims.size()), in_(moved.in_first) {
    for (std::size_t d = moved.dims.size(); d-- > 0; element /= moved.dims[d].extent) {
      index_[d] = element % moved.dims[d].extent;
      in_ += index_[d] * moved.dims[d].in_stride;
      out_ += index_[d] * moved.dims[d].out_stride;
    }
  }

  std::int64_t in() const { return moved_.source ? moved_.source(index_) : in_; }
  std::int64_t out() const { return out_; }
  std::string place() const { return extents_text(index_); }

  /// Whether there is a next element.
  bool next() {
    for (std::size_t d = moved_.dims.size(); d-- > 0;) {
      const moved_dim& dim = moved_.dims[d];
      in_ += dim.in_stride;
      out_ += dim.out_stride;
      if (++index_[d] < dim.extent) return true;
      in_ -= dim.extent * dim.in_stride;
      out_ -= dim.extent * dim.out_stride;
      index_[d] = 0;
    }
    return false;
  }

 private:
  const moved_elements& moved_;
  std::vector<std::int64_t> index_;
  std::int64_t in_, out_ = 0;
};

/// A part of the output on the host, which begins at byte `first` of it.
struct output_part {
  const unsigned char* bytes;
  std::int64_t first;

  bool is_poison(std::int64_t from, std::int64_t to) const {
    return std::all_of(bytes + (from - first), bytes + (to - first), [](unsigned char byte) { return byte == poison; });
  }
};

/// Checks `count` elements from `element` on, and the gaps before them, the first one's from byte `seen` on.
template <int Bytes>
std::string first_mismatch_in(const output_part& part, const moved_elements& moved, std::int64_t element,
                              std::int64_t count, std::int64_t seen) {
  walker at(moved, element);
  for (; count > 0; --count, at.next()) {
    if (!part.is_poison(seen, at.out())) return "written before element " + at.place();
    if (!holds_data<Bytes>(part.bytes + (at.out() - part.first), at.in(), moved.bytes)) {
      return "first wrong element at " + at.place() + " of the output";
    }
    seen = at.out() + moved.bytes;
  }
  return "";
}

/// An element aligned to its size lies in one word of the data.
auto checker_of(const moved_elements& moved) {
  bool aligned = !moved.source;
  for (const moved_dim& dim : moved.dims) aligned = aligned && dim.in_stride % moved.bytes == 0;
  if (aligned && moved.bytes == 1) return first_mismatch_in<1>;
  if (aligned && moved.bytes == 2) return first_mismatch_in<2>;
  if (aligned && moved.bytes == 4) return first_mismatch_in<4>;
  return aligned && moved.bytes == 8 ? first_mismatch_in<8> : first_mismatch_in<0>;
}

/// The same, in equal parts on all cores.
std::string first_mismatch_on_all_cores(const output_part& part, const moved_elements& moved, std::int64_t element,
                                        std::int64_t count, std::int64_t seen) {
  constexpr std::int64_t least = 1 << 16;  // elements that are worth a thread
  const std::int64_t threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, count / least + 1);
  std::vector<std::future<std::string>> parts;
  for (std::int64_t i = 0; i < threads; ++i) {
    const std::int64_t begin = count * i / threads, end = count * (i + 1) / threads;
    const std::int64_t from = begin == 0 ? seen : walker(moved, element + begin - 1).out() + moved.bytes;
    parts.push_back(
        std::async(std::launch::async, checker_of(moved), part, std::cref(moved), element + begin, end - begin, from));
  }
  std::string wrong;
  for (auto& one : parts) {
    const std::string found = one.get();
    if (wrong.empty()) wrong = found;
  }
  return wrong;
}

/// How many elements end before byte `end` of the output.
std::int64_t elements_before(const moved_elements& moved, std::int64_t end) {
  std::int64_t low = 0, high = 1;
  for (const moved_dim& dim : moved.dims) high *= dim.extent;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (walker(moved, middle).out() + moved.bytes <= end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::string first_mismatch(stream_ref stream, const void* out, std::size_t out_bytes, const moved_elements& moved) {
  const auto total = static_cast<std::int64_t>(out_bytes);
  const std::int64_t elements = elements_before(moved, total);
  std::vector<unsigned char> chunk(static_cast<std::size_t>(std::min(chunk_bytes, total)));
  std::int64_t element = 0;
  for (std::int64_t seen = 0; seen < total;) {
    const std::int64_t first = seen, end = std::min(first + chunk_bytes, total);
    download_bytes(stream, static_cast<const unsigned char*>(out) + first, chunk.data(),
                   static_cast<std::size_t>(end - first));
    stream.wait();
    const output_part part{chunk.data(), first};
    const std::int64_t next = elements_before(moved, end);
    if (next > element) {
      const std::string wrong = first_mismatch_on_all_cores(part, moved, element, next - element, seen);
      if (!wrong.empty()) return wrong;
      seen = walker(moved, next - 1).out() + moved.bytes;
      element = next;
    }
    // What is left of the chunk is a gap, as far as the next element.
    const std::int64_t gap_end = element < elements ? std::min(end, walker(moved, element).out()) : end;
    if (gap_end > seen && !part.is_poison(seen, gap_end)) return fmt::format("written in a gap, at byte {}", seen);
    seen = std::max(seen, gap_end);
  }
  return "";
}

std::string moving_problem::text() const {
  return extents_text(size_);
}

std::int64_t moving_problem::cols() const {
  const auto first = size_.size() == 1 ? size_.begin() : size_.begin() + 1;
  return std::accumulate(first, size_.end(), std::int64_t{1}, std::multiplies<>());
}

void moving_problem::run(stream_ref stream, const rung& which, const void* in, void* out,
                         const rung_options& options) const {
  for (int i = 0; i < options.repeats; ++i) {
    if (which.promise == rung_promise::copy) {
      copy_bytes(stream, in, out, static_cast<std::size_t>(elements_bytes()));
    } else {
      move(stream, which, in, out);
    }
  }
}

std::string moving_problem::fault(stream_ref stream, const rung& which, block_shape block, const void* out) const {
  const bool as_promised = which.promise == rung_promise::result || which.promise == rung_promise::transpose;
  return first_mismatch(stream, out, checked_bytes(), as_promised ? moved() : expected_of(which, block));
}

moved_elements moving_problem::expected_of(const rung&, block_shape) const {
  return {element_bytes_, {{elements_bytes() / element_bytes_, element_bytes_, element_bytes_}}, {}};
}

std::vector<rung> moving_rungs(const device& on, std::string_view op, std::string_view lesson) {
  const bool is_cpu = on.properties().backend == "cpu";
  return {{op, is_cpu ? "cpu-tuned" : "tuned", lesson, "this library", rung_promise::result, {}, false},
          {op,
           "memcpy",
           "the device's own copy of the same bytes: the upper bound",
           "the runtime",
           rung_promise::copy,
           {},
           false}};
}

std::vector<block_shape> moving_blocks(const device&, std::string_view, std::int64_t) {
  return {};
}

}  // namespace twill::tool
