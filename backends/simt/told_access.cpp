#include "told_access.hpp"

#include <cstdint>

#include "block_watch.hpp"
#include "identity.hpp"

namespace twill::simt {

told_access::told_access(const volatile void* at, std::size_t bytes, access_kind kind, const void* place)
    : watch_(running.watch) {
  if (watch_ == nullptr) return;
  watch_->access(reinterpret_cast<std::uintptr_t>(at), bytes, bytes, kind, place);
  running.watch = nullptr;
}

told_access::~told_access() {
  running.watch = watch_;
}

}  // namespace twill::simt
