#include "moving_problem.hpp"

#include <functional>
#include <numeric>

#include <fmt/core.h>

#include <twill/buffer.hpp>

#include "format.hpp"

namespace twill::tool {

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
      move(stream, in, out);
    }
  }
}

std::string moving_problem::fault(stream_ref stream, const rung& which, block_shape, const void* out) const {
  moved_elements expected = moved();
  if (which.promise == rung_promise::copy) {
    const std::int64_t count = elements_bytes() / expected.bytes;
    expected = {expected.bytes, 0, {{count, expected.bytes, expected.bytes}}};
  }
  return first_moved_wrong(stream, out, checked_bytes(), expected);
}

std::vector<rung> moving_rungs(const device& on, std::string_view op, std::string_view lesson) {
  const bool is_cpu = on.properties().backend == "cpu";
  return {{op, is_cpu ? "cpu-tuned" : "tuned", lesson, "this library", rung_promise::result, {}, false},
          {op,
           "memcpy",
           "the device's own copy of the same bytes: the roof",
           "the runtime",
           rung_promise::copy,
           {},
           false}};
}

std::vector<block_shape> moving_blocks(const device&, std::string_view, std::int64_t) {
  return {};
}

}  // namespace twill::tool
