#include <algorithm>
#include <cmath>
#include <numeric>

#include "cases.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// The same numbers on every machine, which the standard library's distributions do not promise.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  /// 0 to 1, without 1. SplitMix (Steele, Lea and Flood, 2014).
  double unit() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return unit() < probability; }
  std::int64_t below(std::int64_t end) { return static_cast<std::int64_t>(unit() * static_cast<double>(end)); }
  std::int64_t log_uniform(double least, double most) {
    return static_cast<std::int64_t>(least * std::exp(unit() * std::log((most + 1) / least)));
  }
  /// 1 to 16, and for permutations to 8.
  std::int64_t element_bytes(bool has_16) {
    const double at = unit() * (has_16 ? 1.0 : 0.9);
    return at < 0.15 ? 1 : at < 0.35 ? 2 : at < 0.7 ? 4 : at < 0.9 ? 8 : 16;
  }

 private:
  std::uint64_t state_;
};

std::int64_t rounded_down(std::int64_t extent, std::int64_t multiple) {
  return extent < multiple ? extent : extent / multiple * multiple;
}

struct byte_range {
  std::int64_t least, most;
  bool has(std::int64_t bytes) const { return least <= bytes && bytes <= most; }
};

/// Rows and columns of 2 to 4,000,000; a quarter of the cases is a batch of matrices of 2 to 512 each way.
bench_case draw_transpose(random_source& random, byte_range range) {
  const std::int64_t bytes = random.element_bytes(true);
  const bool batched = random.chance(0.25), rounded = random.chance(0.4);
  const double most = batched ? 512 : 4e6;
  for (;;) {
    std::int64_t rows = random.log_uniform(2, most), cols = random.log_uniform(2, most);
    if (rounded) rows = rounded_down(rows, 64), cols = rounded_down(cols, 64);
    if (!batched) {
      if (range.has(rows * cols * bytes)) return {type_of_bytes(bytes), {rows, cols}, {}, 0, ""};
      continue;
    }
    const std::int64_t all = random.log_uniform(static_cast<double>(range.least), static_cast<double>(range.most));
    const std::int64_t batch = all / (rows * cols * bytes);
    if (batch > 1 && range.has(batch * rows * cols * bytes))
      return {type_of_bytes(bytes), {batch, rows, cols}, {}, 0, ""};
  }
}

/// Rank 3 to 6, extents of 2 to 512, any order but the identity.
bench_case draw_permute(random_source& random, byte_range range) {
  const std::int64_t bytes = random.element_bytes(false);
  const auto rank = static_cast<std::size_t>(3 + random.below(4));
  const bool rounded = random.chance(0.3);
  extents size(rank), order(rank), identity(rank);
  std::iota(identity.begin(), identity.end(), 0);
  std::int64_t all = 0;
  while (!range.has(all)) {
    all = bytes;
    for (std::int64_t& each : size) {
      each = random.log_uniform(2, 512);
      if (rounded) each = rounded_down(each, 16);
      all *= each;  // at most 2^58
    }
  }
  for (order = identity; order == identity;) {
    for (std::size_t i = rank - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
    }
  }
  return {type_of_bytes(bytes), size, order, 0, ""};
}

/// A third lies in one piece; the others have rows of 2 to 4,000,000 elements with up to 64 between them.
bench_case draw_copy(random_source& random, byte_range range) {
  const std::int64_t bytes = random.element_bytes(true);
  const bool in_one_piece = random.chance(1.0 / 3);
  for (;;) {
    const std::int64_t rows = random.log_uniform(2, 4e6), cols = random.log_uniform(2, 4e6);
    if (!range.has(rows * cols * bytes)) continue;
    if (in_one_piece) return {type_of_bytes(bytes), {rows * cols}, {}, 0, ""};
    return {type_of_bytes(bytes), {rows, cols, cols + random.below(65)}, {}, 0, ""};
  }
}

/// Rows and columns of 2 to 4,000,000; a quarter has up to 64 elements between rows.
bench_case draw_rows(random_source& random, byte_range range) {
  const std::int64_t bytes = random.element_bytes(true);
  const bool has_gaps = random.chance(0.25), rounded = random.chance(0.4);
  for (;;) {
    const std::int64_t rows = random.log_uniform(2, 4e6), all = random.log_uniform(2, 4e6);
    const std::int64_t cols = rounded ? rounded_down(all, 64) : all;
    const std::int64_t gap = has_gaps ? 1 + random.below(64) : 0;
    if (range.has(rows * (cols + gap) * bytes)) return {type_of_bytes(bytes), {rows, cols}, {}, gap, ""};
  }
}

/// The same of numbers whose order of addition counts, but for those of one byte.
bench_case draw_sums(random_source& random, byte_range range) {
  bench_case drawn = draw_rows(random, range);
  const std::int64_t bytes = drawn.type.bytes;
  drawn.type = parse_type(bytes == 1 ? "u8" : bytes == 2 ? "f16" : bytes == 4 ? "f32" : bytes == 8 ? "f64" : "c128");
  return drawn;
}

}  // namespace

case_set random_cases(const std::string& operation, std::int64_t count, std::uint64_t seed, std::int64_t most_bytes) {
  const auto draw = operation == "transpose"                                      ? draw_transpose
                    : operation == "permute"                                      ? draw_permute
                    : operation == "copy"                                         ? draw_copy
                    : operation == "scan-rows"                                    ? draw_rows
                    : operation == "reduce-rows" || operation == "reduce-columns" ? draw_sums
                                                                                  : nullptr;
  if (draw == nullptr) {
    refuse("no random cases of " + operation, "known: transpose, permute, copy, scan-rows, reduce-rows, reduce-columns",
           "choose one of these, or use --size");
  }
  constexpr std::int64_t least_most = 1 << 14;
  if (most_bytes == 0) most_bytes = std::int64_t{512} << 20;
  if (most_bytes < least_most) {
    refuse(fmt::format("--max-bytes {} is too small", most_bytes), "random cases need room to differ",
           fmt::format("give at least {}", least_most));
  }
  const byte_range range{most_bytes / 128, most_bytes};
  random_source random(seed);
  case_set set{case_layout::random, {}, "", most_bytes, {}, operation_named(operation).roof};
  while (static_cast<std::int64_t>(set.cases.size()) < count) set.cases.push_back(draw(random, range));
  set.title =
      fmt::format("{}: {} random cases of seed {}, {} to {}", operation, count, seed,
                  bytes_text(static_cast<double>(range.least), 0), bytes_text(static_cast<double>(range.most), 0));
  return set;
}

}  // namespace twill::tool
