#include "working_set.hpp"

#include <algorithm>
#include <vector>

#include "pattern.hpp"

namespace twill::tool {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 20;

std::size_t pitch_of(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

void upload_data(stream_ref stream, void* to, const ladder_problem& problem) {
  const std::size_t bytes = problem.in_bytes();
  std::vector<unsigned char> chunk(std::min(bytes, chunk_bytes));
  for (std::size_t first = 0; first < bytes; first += chunk_bytes) {
    const std::size_t part = std::min(chunk_bytes, bytes - first);
    problem.write_input(chunk.data(), first, part);
    upload_bytes(stream, chunk.data(), static_cast<unsigned char*>(to) + first, part);
    stream.wait();
  }
}

}  // namespace

working_set::working_set(stream_ref stream, const ladder_problem& problem, int pairs)
    : pairs_(pairs),
      in_pitch_(pitch_of(problem.in_bytes())),
      out_pitch_(pitch_of(problem.out_bytes())),
      out_bytes_(problem.out_bytes()),
      ins_(stream.on(), in_pitch_ * static_cast<std::size_t>(pairs)),
      outs_(stream.on(), out_pitch_ * static_cast<std::size_t>(pairs)) {
  upload_data(stream, ins_.data(), problem);
  for (int pair = 1; pair < pairs; ++pair)
    copy_bytes(stream, ins_.data(), at(ins_, in_pitch_, pair), problem.in_bytes());
  for (int pair = 0; pair < pairs; ++pair) problem.prepare(stream, in(pair), out(pair));
  stream.wait();
}

int cold_pairs(const device& on, std::size_t touched_bytes, std::size_t pair_bytes) {
  const std::size_t wanted = 4 * on.properties().cache_bytes;
  if (touched_bytes >= wanted) return 1;
  const std::size_t pairs = std::max<std::size_t>(2, (wanted + touched_bytes - 1) / touched_bytes);
  const std::size_t fit = on.memory().free_bytes / 10 * 9 / pitch_of(pair_bytes);
  return static_cast<int>(std::max<std::size_t>(1, std::min(pairs, fit)));
}

}  // namespace twill::tool
