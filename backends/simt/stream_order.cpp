#include "stream_order.hpp"

#include <algorithm>

#include "kernel_name.hpp"

namespace twill::simt {
namespace {

constexpr std::uint32_t atomic_bit = std::uint32_t{1} << 31;

std::uint32_t at(const std::vector<std::uint32_t>& clock, std::size_t slot) {
  return slot < clock.size() ? clock[slot] : 0;
}

void join(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
  if (to.size() < from.size()) to.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

std::string text_of(const unordered_access& access) {
  const stream_work& work = access.work;
  const std::string who = work.kernel == nullptr ? work.name : "kernel " + kernel_name(work.kernel);
  return who + (access.store ? " stored" : " loaded");
}

void stream_order::add_stream(const void* stream) {
  const std::lock_guard lock(mutex_);
  const auto free = std::find_if(slots_.begin(), slots_.end(), [](const slot_state& s) { return s.of == nullptr; });
  const auto slot = static_cast<std::size_t>(free - slots_.begin());
  if (free == slots_.end()) slots_.emplace_back();
  slots_[slot].of = stream;
  slots_[slot].known.resize(std::max(slots_[slot].known.size(), slot + 1), 0);
  streams_[stream] = slot;
}

void stream_order::remove_stream(const void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (slot_state* const slot = slot_of(stream)) slot->of = nullptr;
  streams_.erase(stream);
}

void stream_order::remove_event(const void* event) noexcept {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

stream_order::slot_state* stream_order::slot_of(const void* stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &slots_[found->second];
}

void stream_order::record(const void* event, const void* stream) {
  const std::lock_guard lock(mutex_);
  const slot_state* const slot = slot_of(stream);
  if (slot == nullptr) forget_all();
  events_[event] = slot == nullptr ? vector_clock{} : slot->known;
}

void stream_order::hold(const void* stream, const void* event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  slot_state* const slot = slot_of(stream);
  if (slot == nullptr || found == events_.end()) return forget_all();  // of another device, or the default stream
  join(slot->known, found->second);
}

void stream_order::wait_on_host_for_stream(const void* stream) {
  const std::lock_guard lock(mutex_);
  const slot_state* const slot = slot_of(stream);
  if (slot == nullptr) return forget_all();
  join(host_, slot->known);
  drop_what_is_ordered();
}

void stream_order::wait_on_host_for_event(const void* event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  join(host_, found->second);
  drop_what_is_ordered();
}

// Where the host has waited for all work, whatever comes is ordered behind it.
void stream_order::drop_what_is_ordered() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].of != nullptr && at(host_, slot) < slots_[slot].known[slot]) return;
  }
  forget_all();
}

void stream_order::clear() {
  const std::lock_guard lock(mutex_);
  forget_all();
}

void stream_order::forget_all() {
  works_.clear();
  pages_.clear();
  released_.clear();
  last_ = nullptr;
  for (slot_state& slot : slots_) slot.work = 0;
}

void stream_order::new_work(slot_state& slot, const stream_work& work) {
  const auto self = static_cast<std::size_t>(&slot - slots_.data());
  works_.push_back({self, ++slot.known[self], work});
  slot.work = static_cast<std::uint32_t>(works_.size());
}

bool stream_order::begin(const void* stream, const stream_work& work) {
  const std::lock_guard lock(mutex_);
  slot_state* const slot = slot_of(stream);
  if (slot == nullptr || (streams_.size() < 2 && works_.empty())) return false;
  if (pages_.size() > most_pages) forget_all();
  join(slot->known, host_);
  new_work(*slot, work);
  return true;
}

stream_order::byte_history& stream_order::history_of(std::uintptr_t byte) {
  const std::uintptr_t key = byte / page_bytes;
  if (last_ == nullptr || key != last_key_) {
    auto& found = pages_[key];
    if (found == nullptr) found = std::make_unique<page>();
    last_key_ = key;
    last_ = found.get();
  }
  return last_->of[byte % page_bytes];
}

const stream_order::work_record* stream_order::unordered(std::uint32_t number, bool atomic, std::size_t self) const {
  if (number == 0 || (atomic && (number & atomic_bit) != 0)) return nullptr;
  const std::size_t index = (number & ~atomic_bit) - 1;
  if (index >= works_.size()) return nullptr;
  const work_record& earlier = works_[index];
  if (earlier.slot == self || at(slots_[self].known, earlier.slot) >= earlier.time) return nullptr;
  return &earlier;
}

std::optional<unordered_access> stream_order::touch(const void* stream, std::uintptr_t first, std::size_t bytes,
                                                    access_kind kind) {
  const std::lock_guard lock(mutex_);
  const slot_state* const slot = slot_of(stream);
  if (slot == nullptr) return std::nullopt;
  const auto self = static_cast<std::size_t>(slot - slots_.data());
  const bool atomic = is_atomic(kind);
  if (slot->work == 0) return std::nullopt;  // forgotten while it runs
  const std::uint32_t mine = slot->work | (atomic ? atomic_bit : 0);
  for (std::size_t i = 0; i < bytes; ++i) {
    byte_history& byte = history_of(first + i);
    if (const auto* const other = unordered(byte.writer, atomic, self)) return unordered_access{other->work, true};
    if (writes(kind)) {
      if (const auto* const other = unordered(byte.reader, atomic, self)) return unordered_access{other->work, false};
      byte.writer = mine;
    }
    if (reads(kind)) byte.reader = mine;  // of several readers the last
  }
  return std::nullopt;
}

void stream_order::release(const void* stream, const void* word) {
  const std::lock_guard lock(mutex_);
  slot_state* const slot = slot_of(stream);
  if (slot == nullptr || slot->work == 0) return;
  join(released_[word], slot->known);
  new_work(*slot, works_[slot->work - 1].work);  // what it does from here on is not covered
}

void stream_order::acquire(const void* stream, const void* word) {
  const std::lock_guard lock(mutex_);
  slot_state* const slot = slot_of(stream);
  const auto found = released_.find(word);
  if (slot != nullptr && found != released_.end()) join(slot->known, found->second);
}

void stream_order::forget(const void* base, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (pages_.empty()) return;
  const auto first = reinterpret_cast<std::uintptr_t>(base);
  for (std::uintptr_t key = first / page_bytes; key * page_bytes < first + bytes; ++key) {
    const auto found = pages_.find(key);
    if (found == pages_.end()) continue;
    for (std::size_t i = 0; i < page_bytes; ++i) {
      if (key * page_bytes + i - first < bytes) found->second->of[i] = {};
    }
  }
}

}  // namespace twill::simt
