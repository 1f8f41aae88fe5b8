#include "team_data.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/stream.hpp>

#include "data.hpp"

namespace twill::tool {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{4} << 20;

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

template <std::int64_t Bytes>
void write_row(unsigned char* to, std::int64_t count, std::int64_t index, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i, index += step) {
    const std::uint64_t word = data_word(static_cast<std::uint64_t>(index));
    std::memcpy(to + i * Bytes, &word, static_cast<std::size_t>(Bytes));
  }
}

void write_long_row(unsigned char* to, std::int64_t bytes, std::int64_t count, std::int64_t index, std::int64_t step) {
  const std::int64_t full = bytes / 8, rest = bytes % 8, words = full + (rest > 0 ? 1 : 0);
  for (std::int64_t e = 0; e < count; ++e, index += step, to += bytes) {
    for (std::int64_t i = 0; i < full; ++i) {
      const std::uint64_t word = data_word(static_cast<std::uint64_t>(index * words + i));
      std::memcpy(to + 8 * i, &word, 8);
    }
    if (rest == 0) continue;
    const std::uint64_t word = data_word(static_cast<std::uint64_t>(index * words + full));
    std::memcpy(to + 8 * full, &word, static_cast<std::size_t>(rest));
  }
}

/// Elements `index`, `index` + `step` ... of the data.
void write_elements(unsigned char* to, std::int64_t bytes, std::int64_t count, std::int64_t index, std::int64_t step) {
  switch (bytes) {
    case 1:
      return write_row<1>(to, count, index, step);
    case 2:
      return write_row<2>(to, count, index, step);
    case 4:
      return write_row<4>(to, count, index, step);
    case 8:
      return write_row<8>(to, count, index, step);
    default:
      return write_long_row(to, bytes, count, index, step);
  }
}

using chunk_function = std::function<bool(stream_ref, std::int64_t, const std::vector<unsigned char>&)>;

/// Calls f(stream, elements before, data) for a part of rows [first, last) after another, until it returns false.
void each_chunk(stream_ref stream, const part_rows& rows, std::int64_t first, std::int64_t last, std::int64_t bytes,
                const chunk_function& f) {
  const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / bytes);
  std::vector<unsigned char> data(static_cast<std::size_t>(most * bytes));
  std::int64_t before = first * rows.length(), held = 0;
  const auto flush = [&] {
    data.resize(static_cast<std::size_t>(held * bytes));
    const bool more = held == 0 || f(stream, before, data);
    data.resize(static_cast<std::size_t>(most * bytes));
    before += held;
    held = 0;
    return more;
  };
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t index = rows.first_of(row);
    for (std::int64_t at = 0, count = 0; at < rows.length(); at += count) {
      if (held == most && !flush()) return;
      count = std::min(rows.length() - at, most - held);
      write_elements(data.data() + held * bytes, bytes, count, index + at * rows.step(), rows.step());
      held += count;
    }
  }
  flush();
}

/// The same, a share of the rows on each of several threads, with a stream each.
void each_share(const device& on, const part_rows& rows, std::int64_t bytes, const chunk_function& f) {
  // Of each rank, of which a process may have several.
  const std::int64_t most_threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency() / 2, 2, 16);
  const std::int64_t chunks = rows.rows() * rows.length() * bytes / piece_bytes;
  const std::int64_t shares = std::clamp<std::int64_t>(std::min(chunks, rows.rows()), 1, most_threads);
  std::vector<std::future<void>> running;
  for (std::int64_t i = 0; i < shares; ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      const stream own(on);
      each_chunk(own, rows, rows.rows() * i / shares, rows.rows() * (i + 1) / shares, bytes, f);
    }));
  }
  for (auto& one : running) one.wait();
  for (auto& one : running) one.get();
}

}  // namespace

void write_part(const device& on, const dims& extents, const twill::distribution& lies, int rank,
                std::int64_t element_bytes, void* memory) {
  each_share(on, part_rows(extents, lies, rank), element_bytes, [&](stream_ref stream, auto before, const auto& data) {
    upload_bytes(stream, data.data(), static_cast<unsigned char*>(memory) + before * element_bytes, data.size());
    stream.wait();
    return true;
  });
}

std::string part_fault(const device& on, const dims& extents, const twill::distribution& lies, int rank,
                       std::int64_t element_bytes, const void* memory) {
  std::mutex guard;
  std::int64_t first_wrong = std::numeric_limits<std::int64_t>::max();
  each_share(on, part_rows(extents, lies, rank), element_bytes, [&](stream_ref stream, auto before, const auto& data) {
    std::vector<unsigned char> found(data.size());
    download_bytes(stream, static_cast<const unsigned char*>(memory) + before * element_bytes, found.data(),
                   found.size());
    stream.wait();
    if (std::memcmp(found.data(), data.data(), data.size()) == 0) return true;
    const auto differs = std::mismatch(found.begin(), found.end(), data.begin()).first;
    const std::lock_guard<std::mutex> held(guard);
    first_wrong = std::min<std::int64_t>(first_wrong, before + (differs - found.begin()) / element_bytes);
    return false;
  });
  if (first_wrong == std::numeric_limits<std::int64_t>::max()) return "";
  return fmt::format("rank {}: element {} of its memory differs", rank, first_wrong);
}

}  // namespace twill::tool
