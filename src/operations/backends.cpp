// The backends of this build, each with its devices and its operations: the one place that knows both.

#include <string>

#include "backends/backend.hpp"

// "backend_list.inc" is written by CMake: TWILL_BACKEND_OF_BUILD(cuda), a line a backend.
#define TWILL_BACKEND_OF_BUILD(name)         \
  namespace twill::name {                    \
  extern detail::backend this_backend;       \
  extern detail::operation_table operations; \
  }
#include "backend_list.inc"
#undef TWILL_BACKEND_OF_BUILD

namespace twill::detail {
namespace {

backend with_operations(backend one, const operation_table& operations) {
  one.operations = &operations;
  return one;
}

// Never destroyed: a device may be opened while the program ends.
std::vector<backend>& known_backends() {
  static auto* const all = new std::vector<backend>{
#define TWILL_BACKEND_OF_BUILD(name) with_operations(name::this_backend, name::operations),
#include "backend_list.inc"
#undef TWILL_BACKEND_OF_BUILD
  };
  return *all;
}

}  // namespace

const std::vector<backend>& backends() {
  return known_backends();
}

void add_backend(const backend& one, const operation_table& operations) {
  known_backends().push_back(with_operations(one, operations));
}

std::shared_ptr<backend_device> open_ordinal(std::string_view backend_name, int ordinal) {
  for (const auto& one : backends()) {
    if (one.name != backend_name) continue;
    return open_device(one, std::to_string(ordinal < 0 ? one.current_ordinal() : ordinal));
  }
  fail(errc::no_device, std::string(backend_name) + "::borrow: no stream can be borrowed",
       "this build of Twill has no " + std::string(backend_name) + " backend", "build with it in TWILL_BACKENDS");
}

}  // namespace twill::detail
