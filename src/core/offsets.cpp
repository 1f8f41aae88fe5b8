#include "core/offsets.hpp"

#include <string>

#include "backends/backend.hpp"
#include "backends/error.hpp"

namespace twill::detail {

void require_ascending_offsets(const device& on, const std::int64_t* offsets, std::int64_t count) {
  const void* const view = on.impl()->host_view(offsets, static_cast<std::size_t>(count) * sizeof *offsets);
  if (view == nullptr) return;
  const auto* const values = static_cast<const std::int64_t*>(view);
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i] >= (i == 0 ? 0 : values[i - 1])) continue;
    const char* const what = i == 0 ? "the first offset is negative" : "offsets decrease";
    fail(errc::invalid_argument, what, "offset " + std::to_string(i) + " is " + std::to_string(values[i]),
         i == 0 ? "begin with 0" : "sort them");
  }
}

}  // namespace twill::detail
