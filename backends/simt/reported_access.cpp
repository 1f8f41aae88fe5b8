#include "reported_access.hpp"

#include <cstdint>

#include "access_observer.hpp"
#include "identity.hpp"

namespace twill::simt {

reported_access::reported_access(const volatile void* at, std::size_t bytes, access_kind kind, const void* place)
    : observer_(running.observer), at_(at) {
  if (observer_ == nullptr) return;
  observer_->access(reinterpret_cast<std::uintptr_t>(at), bytes, bytes, kind, place);
  running.observer = nullptr;
}

void reported_access::release() const {
  if (observer_ != nullptr) observer_->release(const_cast<const void*>(at_));
}

void reported_access::acquire() const {
  if (observer_ != nullptr) observer_->acquire(const_cast<const void*>(at_));
}

reported_access::~reported_access() {
  running.observer = observer_;
}

}  // namespace twill::simt
