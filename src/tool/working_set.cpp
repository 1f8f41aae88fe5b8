#include "working_set.hpp"

#include <algorithm>
#include <vector>

#include "data.hpp"

namespace twill::tool {
namespace {

constexpr std::size_t upload_step = std::size_t{64} << 20;

/// Where allocations and pairs begin: what a small problem takes is at least this.
std::size_t aligned(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + 255) / 256) * 256;
}

}  // namespace

working_set::layout working_set::layout_of(const ladder_problem& problem) const {
  layout found{aligned(problem.in_bytes()), aligned(problem.out_bytes()), 1, false};
  if (exact_) return {problem.in_bytes(), problem.out_bytes(), 1, false};
  if (!cold_) return found;
  const bool is_all_touched = problem.touched_bytes() == problem.in_bytes() + problem.out_bytes();
  const std::size_t wanted = 4 * stream_.on().properties().cache_bytes;
  const std::size_t touched = is_all_touched ? found.in_pitch + found.out_pitch : aligned(problem.touched_bytes());
  if (touched >= wanted) return found;
  const std::size_t pairs = std::max<std::size_t>(2, (wanted + touched - 1) / touched);
  const std::size_t held = in_ ? in_->size_bytes() + out_->size_bytes() : 0;
  const std::size_t fit = (stream_.on().memory().free_bytes / 10 * 9 + held) / (found.in_pitch + found.out_pitch);
  found.pairs = std::max<std::size_t>(1, std::min(pairs, fit));
  found.lacks_pairs = fit < pairs;
  return found;
}

void working_set::expect(const ladder_problem& problem) {
  const layout wanted = layout_of(problem);
  in_expected_ = std::max(in_expected_, wanted.in_bytes());
  out_expected_ = std::max(out_expected_, wanted.out_bytes());
}

void working_set::lay_out(const ladder_problem& problem) {
  now_ = layout_of(problem);
  const bool fits = !exact_ && in_ && in_->size_bytes() >= now_.in_bytes() && out_->size_bytes() >= now_.out_bytes();
  if (!fits) {
    in_.reset();
    out_.reset();
    filled_ = 0;
    in_.emplace(stream_.on(), std::max(in_expected_, now_.in_bytes()));
    out_.emplace(stream_.on(), std::max(out_expected_, now_.out_bytes()));
  }
  fill(problem, !fits);
}

void working_set::fill(const ladder_problem& problem, bool is_new) {
  const std::size_t bytes = now_.in_bytes();
  const twill::element_type kind = problem.data_kind();
  if (filled_kind_ != kind) filled_ = 0;
  filled_kind_ = kind;
  std::vector<unsigned char> part(filled_ < bytes ? std::min(bytes - filled_, upload_step) : 0);
  for (; filled_ < bytes; filled_ += std::min(upload_step, bytes - filled_)) {
    const std::size_t count = std::min(upload_step, bytes - filled_);
    write_data(part.data(), filled_, count, kind);
    upload_bytes(stream_, part.data(), static_cast<unsigned char*>(in_->data()) + filled_, count);
    stream_.wait();
  }
  if (is_new) fill_bytes(stream_, out_->data(), poison, out_->size_bytes());
  for (std::size_t done = 0; problem.in_place() && done < now_.out_bytes(); done += bytes) {
    copy_bytes(stream_, in_->data(), static_cast<unsigned char*>(out_->data()) + done,
               std::min(bytes, now_.out_bytes() - done));
  }
  stream_.wait();
}

}  // namespace twill::tool
