#include "reported_access.hpp"

#include <cstdint>

#include "access_observer.hpp"
#include "identity.hpp"

namespace twill::simt {

reported_access::reported_access(const volatile void* at, std::size_t bytes, access_kind kind, const void* place)
    : observer_(running.observer) {
  if (observer_ == nullptr) return;
  observer_->access(reinterpret_cast<std::uintptr_t>(at), bytes, bytes, kind, place);
  running.observer = nullptr;
}

reported_access::~reported_access() {
  running.observer = observer_;
}

}  // namespace twill::simt
