// The ladders of each backend of this build: the one place of this library that knows all of them.

#include "ladder/operations.hpp"

// "backend_list_ladder.inc" is written by CMake: TWILL_BACKEND_OF_BUILD(cuda), a line a backend.
#define TWILL_BACKEND_OF_BUILD(name)                                           \
  namespace twill::name {                                                      \
  const detail::ladder_table& ladders();                                       \
  void sieve(const detail::work_queue& queue, const detail::sieve_args& args); \
  }
#include "backend_list_ladder.inc"
#undef TWILL_BACKEND_OF_BUILD

namespace twill::detail {

const backend_ladders& ladders_of(const backend_device& device) {
  static constexpr backend_ladders all[] = {
#define TWILL_BACKEND_OF_BUILD(name) {#name, &name::ladders, &name::sieve},
#include "backend_list_ladder.inc"
#undef TWILL_BACKEND_OF_BUILD
  };
  const std::string& name = device.properties().backend;
  for (const auto& one : all) {
    if (one.backend == name) return one;
  }
  fail(errc::unsupported, "no ladders on " + device.properties().name,
       "this build of Twill has no rungs for the backend " + name, "build with it in TWILL_BACKENDS");
}

}  // namespace twill::detail
