// The simulator's entry in the list of backends: added by the library that it is, while the program starts.

#include "backends/backend.hpp"

namespace twill::simt {
extern detail::backend this_backend;
extern detail::operation_table operations;
}  // namespace twill::simt

namespace {

struct registration {
  registration() { twill::detail::add_backend(twill::simt::this_backend, twill::simt::operations); }
};

}  // namespace

// A link option of the library's users (-u) names it, so that a static library's member is not left out.
extern "C" TWILL_API const bool twill_simt_is_linked;
const bool twill_simt_is_linked = true;

// Before the application's static objects, which may open devices: those of a static library, linked last, would come
// last. 101 is the first priority that is not the compiler's own.
__attribute__((init_priority(101))) const registration twill_simt_registration;
