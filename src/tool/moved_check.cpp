#include "moved_check.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <twill/buffer.hpp>

#include "format.hpp"
#include "pattern.hpp"

namespace twill::tool {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{64} << 20;

/// Whether the data from byte `first` on stands at `found`; `bytes` is 64 at most.
bool holds_data(const unsigned char* found, std::int64_t first, std::int64_t bytes) {
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
  explicit walker(const moved_elements& moved) : moved_(moved), index_(moved.dims.size()), in_(moved.in_first) {}

  std::int64_t in() const { return in_; }
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

}  // namespace

std::string first_moved_wrong(stream_ref stream, const void* out, std::size_t out_bytes, const moved_elements& moved) {
  const auto total = static_cast<std::int64_t>(out_bytes);
  std::vector<unsigned char> chunk(static_cast<std::size_t>(std::min(chunk_bytes, total)));
  const auto is_poison = [](unsigned char byte) { return byte == poison; };
  walker at(moved);
  bool more = true;
  for (std::int64_t seen = 0; seen < total;) {
    const std::int64_t first = seen, count = std::min(chunk_bytes, total - first);
    download_bytes(stream, chunk.data(), static_cast<const unsigned char*>(out) + first,
                   static_cast<std::size_t>(count));
    stream.wait();
    while (more && at.out() + moved.bytes <= first + count) {
      unsigned char* const found = chunk.data() + (at.out() - first);
      if (!std::all_of(chunk.data() + (seen - first), found, is_poison)) return "written before element " + at.place();
      if (!holds_data(found, at.in(), moved.bytes)) return "first wrong element at " + at.place() + " of the output";
      seen = at.out() + moved.bytes;
      more = at.next();
    }
    // What is left of the chunk is a gap, as far as the next element.
    const std::int64_t gap_end = more ? std::min(first + count, at.out()) : first + count;
    if (gap_end > seen && !std::all_of(chunk.data() + (seen - first), chunk.data() + (gap_end - first), is_poison)) {
      return fmt::format("written in a gap, at byte {}", seen);
    }
    seen = std::max(seen, gap_end);
  }
  return "";
}

}  // namespace twill::tool
