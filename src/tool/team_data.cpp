#include "team_data.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <fmt/core.h>

#include <twill/buffer.hpp>

#include "data.hpp"

namespace twill::tool {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{4} << 20;

/// A rank's part as its memory has it: rows of the innermost local dimension.
class part_rows {
 public:
  part_rows(const dims& extents, const twill::distribution& lies, int rank) : part_(part_of(extents, lies, rank)) {
    const int count = extents.size();
    std::vector<std::int64_t> strides(static_cast<std::size_t>(count), 1);  // of indices in the whole array
    for (int d = count - 2; d >= 0; --d) strides[static_cast<std::size_t>(d)] = strides[d + 1u] * extents[d + 1];
    for (int i = 0; i < count; ++i) {
      const int d = lies.order.size() == 0 ? i : static_cast<int>(lies.order[i]);
      local_.push_back({part_.extents[d], strides[static_cast<std::size_t>(d)], part_.first[d]});
    }
  }

  std::int64_t length() const { return local_.back().extent; }
  std::int64_t rows() const { return length() == 0 ? 0 : part_.elements / length(); }
  std::int64_t step() const { return local_.back().stride; }

  /// The index in the whole array of the first element of a row.
  std::int64_t first_of(std::int64_t row) const {
    std::int64_t index = local_.back().first * local_.back().stride;
    for (std::size_t i = local_.size() - 1; i > 0; --i) {
      const dimension& d = local_[i - 1];
      index += (d.first + row % d.extent) * d.stride;
      row /= d.extent;
    }
    return index;
  }

 private:
  struct dimension {
    std::int64_t extent, stride, first;
  };
  local_part part_;
  std::vector<dimension> local_;  // outermost first
};

void write_element(unsigned char* to, std::int64_t bytes, std::int64_t index) {
  const std::int64_t words = (bytes + 7) / 8;
  for (std::int64_t i = 0; i < words; ++i) {
    const std::uint64_t word = data_word(static_cast<std::uint64_t>(index * words + i));
    std::memcpy(to + 8 * i, &word, static_cast<std::size_t>(std::min<std::int64_t>(8, bytes - 8 * i)));
  }
}

/// Calls f(elements before, data) for a part of the memory after another.
void each_chunk(const part_rows& rows, std::int64_t element_bytes,
                const std::function<bool(std::int64_t, const std::vector<unsigned char>&)>& f) {
  const std::int64_t most = std::max<std::int64_t>(1, chunk_bytes / element_bytes);
  std::vector<unsigned char> data;
  std::int64_t before = 0, held = 0;
  const auto flush = [&] {
    data.resize(static_cast<std::size_t>(held * element_bytes));
    const bool more = held == 0 || f(before, data);
    before += held;
    held = 0;
    return more;
  };
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    std::int64_t index = rows.first_of(row);
    for (std::int64_t at = 0; at < rows.length(); ++at, index += rows.step()) {
      if (held == most && !flush()) return;
      data.resize(static_cast<std::size_t>(most * element_bytes));
      write_element(data.data() + held++ * element_bytes, element_bytes, index);
    }
  }
  flush();
}

}  // namespace

void write_part(stream_ref stream, const dims& extents, const twill::distribution& lies, int rank,
                std::int64_t element_bytes, void* memory) {
  each_chunk(part_rows(extents, lies, rank), element_bytes, [&](std::int64_t before, const auto& data) {
    upload_bytes(stream, data.data(), static_cast<unsigned char*>(memory) + before * element_bytes, data.size());
    stream.wait();
    return true;
  });
}

std::string part_fault(stream_ref stream, const dims& extents, const twill::distribution& lies, int rank,
                       std::int64_t element_bytes, const void* memory) {
  std::string fault;
  each_chunk(part_rows(extents, lies, rank), element_bytes, [&](std::int64_t before, const auto& data) {
    std::vector<unsigned char> found(data.size());
    download_bytes(stream, static_cast<const unsigned char*>(memory) + before * element_bytes, found.data(),
                   found.size());
    stream.wait();
    const auto differs = std::mismatch(found.begin(), found.end(), data.begin()).first;
    if (differs == found.end()) return true;
    fault = fmt::format("rank {}: element {} of its memory differs", rank,
                        before + (differs - found.begin()) / element_bytes);
    return false;
  });
  return fault;
}

}  // namespace twill::tool
