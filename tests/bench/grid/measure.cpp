#include "measure.hpp"

#include <twill/ladder/transpose.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace grid {
namespace {

constexpr std::size_t period = 67108744;  // bytes: 8 times a prime, so that rows of no grid shape repeat
constexpr unsigned char poison = 0xA5;

/// At least four times the last-level cache, once around all pairs.
std::size_t cold_bytes(const twill::device& on) {
  return std::max<std::size_t>(4 * on.properties().cache_bytes, std::size_t{64} << 20);
}

bool in_place(const std::string& kernel) {
  return kernel == "least" || kernel == "fast";
}

times quartiles(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    return samples[static_cast<std::size_t>(std::lround(part * double(samples.size() - 1)))];
  };
  return {at(0.5), at(0.25), at(0.75)};
}

std::size_t scratch_bytes(const cell& which, const std::string& kernel) {
  if (!in_place(kernel)) return 0;
  const auto size = kernel == "fast" ? twill::scratch_size::fast : twill::scratch_size::least;
  return twill::transpose_in_place_scratch_bytes(twill::device(), which.element_bytes,
                                                 {which.rows, which.cols, which.batch}, size);
}

}  // namespace

laboratory::laboratory(const twill::device& on, std::size_t most_bytes, int reps)
    : device_(on),
      stream_(on),
      reps_(reps),
      host_(period + 64),
      capacity_(std::max(most_bytes, cold_bytes(on)) + 4096),
      in_(on, capacity_),
      out_(on, capacity_) {
  std::mt19937_64 random(20240607);
  for (std::size_t i = 0; i < period; i += 8) {
    // As floating point these are ordinary numbers, which a vendor's BLAS moves unchanged; no byte is the poison.
    const std::uint64_t word = (random() & 0x1f1f1f1f1f1f1f1fu) | 0x2020202020202020u;
    std::memcpy(host_.data() + i, &word, 8);
  }
  std::memcpy(host_.data() + period, host_.data(), 64);
}

void laboratory::fill_inputs(std::size_t bytes) {
  if (bytes <= filled_) return;
  filled_ = bytes;
  auto* data = static_cast<unsigned char*>(in_.data());
  std::size_t done = std::min(period, bytes);
  twill::upload_bytes(stream_, host_.data(), data, done);
  for (; done < bytes; done += period) {
    twill::copy_bytes(stream_, data, data + done, std::min(period, bytes - done));
  }
}

bool laboratory::has(const std::string& rung) const {
  if (rung == "tuned" || in_place(rung)) return true;
  const auto rungs = twill::transpose_rungs(device_);
  return std::any_of(rungs.begin(), rungs.end(), [&](const twill::rung& each) { return each.name == rung; });
}

laboratory::call laboratory::call_of(const cell& which, const std::string& kernel) const {
  const auto bytes = static_cast<std::size_t>(which.bytes());
  if (kernel == "memcpy") {
    return [=](int pair) { twill::copy_bytes(stream_, in(pair), out(pair), bytes); };
  }
  if (kernel == "tuned") {
    return [=](int pair) {
      twill::transpose_bytes(stream_, in(pair), out(pair), which.element_bytes,
                             {which.rows, which.cols, which.batch, which.in_ld(), 0, which.in_stride()});
    };
  }
  if (in_place(kernel)) {
    return [=, scratch = scratch_bytes(which, kernel)](int pair) {
      twill::transpose_in_place_bytes(stream_, in(pair), which.element_bytes, {which.rows, which.cols, which.batch},
                                      {out_.data(), scratch});
    };
  }
  return [=](int pair) {
    twill::transpose_rung(stream_, kernel, in(pair), out(pair), which.element_bytes, which.rows, which.cols);
  };
}

std::string laboratory::first_wrong(const cell& which, const unsigned char* found, std::int64_t first,
                                    std::int64_t count) const {
  const std::int64_t matrix_elements = which.rows * which.cols;
  for (std::int64_t i = first; i < first + count; ++i, found += which.element_bytes) {
    const std::int64_t matrix = i / matrix_elements, within = i - matrix * matrix_elements;
    const std::int64_t c = within / which.rows, r = within - c * which.rows;
    const auto from =
        static_cast<std::size_t>((matrix * which.in_stride() + r * which.in_ld() + c) * which.element_bytes);
    if (std::memcmp(found, host_.data() + from % period, static_cast<std::size_t>(which.element_bytes)) != 0) {
      return "matrix " + std::to_string(matrix) + ", row " + std::to_string(c) + ", column " + std::to_string(r);
    }
  }
  return "";
}

// Compares the output of one call with the input: all of it, or of large ones the first, the last and some windows
// between.
std::string laboratory::fault_of(const cell& which, const std::string& kernel, const call& run, int windows) {
  const auto bytes = static_cast<std::size_t>(which.bytes());
  if (in_place(kernel)) {
    filled_ = 0;
    fill_inputs(bytes);
    filled_ = 0;
  }
  if (!in_place(kernel)) twill::fill_bytes(stream_, out_.data(), poison, bytes);
  run(0);
  const auto* result = static_cast<const unsigned char*>(in_place(kernel) ? in_.data() : out_.data());
  const bool whole = bytes <= window_bytes * static_cast<std::size_t>(windows);
  const std::int64_t step = whole ? which.elements() : static_cast<std::int64_t>(window_bytes) / which.element_bytes;
  std::vector<unsigned char> found(static_cast<std::size_t>(step * which.element_bytes));
  std::mt19937_64 random(7);
  std::string wrong;
  for (int i = 0; i < (whole ? 1 : windows) && wrong.empty(); ++i) {
    const std::int64_t last = which.elements() - step;
    const std::int64_t first = i == 0   ? 0
                               : i == 1 ? last
                                        : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last + 1));
    twill::download_bytes(stream_, result + first * which.element_bytes, found.data(), found.size());
    stream_.wait();
    wrong = first_wrong(which, found.data(), first, step);
  }
  return wrong;
}

// Samples of at least about 100 us each, the kernels turn about, so that a change of clocks meets all of them.
std::vector<times> laboratory::time_all(const std::vector<call>& calls) {
  twill::event begin(device_), end(device_);
  int pair = 0;
  const auto seconds = [&](const call& run, int launches) {
    begin.record(stream_);
    for (int i = 0; i < launches; ++i) {
      run(pair);
      pair = (pair + 1) % pairs_;
    }
    end.record(stream_);
    return end.elapsed(begin).count() / launches;
  };
  std::vector<int> launches, reps;
  for (const call& run : calls) {
    seconds(run, 1);
    const double once = seconds(run, 2);
    launches.push_back(std::max(1, static_cast<int>(std::ceil(100e-6 / std::max(once, 1e-6)))));
    reps.push_back(std::clamp(static_cast<int>(0.25 / once), std::min(3, reps_), reps_));
  }
  std::vector<std::vector<double>> samples(calls.size());
  for (int i = 0; i < reps_; ++i) {
    for (std::size_t k = 0; k < calls.size(); ++k) {
      if (i < reps[k]) samples[k].push_back(seconds(calls[k], launches[k]));
    }
  }
  std::vector<times> all;
  for (auto& each : samples) all.push_back(quartiles(std::move(each)));
  return all;
}

std::vector<outcome> laboratory::measure(const cell& which, const std::vector<std::string>& kernels, int windows) {
  const auto bytes = static_cast<std::size_t>(which.in_bytes());
  pitch_ = (bytes + 255) / 256 * 256;
  // In place, one side is memory enough for a round, and the other is scratch.
  const bool one_side = in_place(kernels.front());
  const std::size_t round = one_side ? cold_bytes(device_) : cold_bytes(device_) / 2;
  pairs_ = static_cast<int>(std::clamp<std::size_t>((round + pitch_ - 1) / pitch_, 1, capacity_ / pitch_));
  fill_inputs(std::min(capacity_, pitch_ * static_cast<std::size_t>(pairs_)));

  std::vector<outcome> results{{which, "memcpy", {}, 1.0, ""}};
  std::vector<call> calls{call_of(which, "memcpy")};
  for (const std::string& kernel : kernels) {
    if (!has(kernel)) continue;
    const call run = call_of(which, kernel);
    try {
      results.push_back({which, kernel, {}, 0, fault_of(which, kernel, run, windows)});
      calls.push_back(run);
    } catch (const twill::error& problem) {
      if (problem.code() != twill::errc::unsupported && problem.code() != twill::errc::invalid_argument) throw;
    }
  }
  const std::vector<times> taken = time_all(calls);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].seconds = taken[i];
    results[i].of_memcpy = taken[0].median / taken[i].median;
  }
  return results;
}

}  // namespace grid
