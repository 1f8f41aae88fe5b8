// The simulator's entry in the list of backends: added by the library that it is, while the program starts.

#include "backends/backend.hpp"

namespace twill::simt {
extern detail::backend this_backend;
extern detail::operation_table operations;
}  // namespace twill::simt

// A link option of the library's users (-u) names it, so that a static library's member is not left out.
extern "C" TWILL_API const bool twill_simt_is_linked;
const bool twill_simt_is_linked =
    (twill::detail::add_backend(twill::simt::this_backend, twill::simt::operations), true);
