#include "race_history.hpp"

namespace twill::simt {

byte_history& race_history::history_of(bool direct, std::uintptr_t byte) {
  if (direct) return direct_[byte];
  const std::uintptr_t key = byte / granule;
  if (key != last_key_ || last_ >= granules_used_) {
    const auto [found, is_new] = index_.try_emplace(key, granules_used_);
    if (is_new && ++granules_used_ > granules_.size()) granules_.emplace_back();
    last_key_ = key;
    last_ = found->second;
  }
  return granules_[last_][byte % granule];
}

// Places of one launch's code are few; past 65,534 of them the rest goes without a line.
std::uint16_t race_history::number_of(const void* place) {
  const auto next = static_cast<std::uint16_t>(places_.size());
  if (next == 0xffff && numbers_.find(place) == numbers_.end()) return 0;
  const auto [found, is_new] = numbers_.try_emplace(place, next);
  if (is_new) places_.push_back(place);
  return found->second;
}

std::optional<earlier_access> race_history::add(byte_history& history, unsigned thread, access_kind kind,
                                                std::uint16_t place) {
  if (history.interval != interval_) {
    history = {};
    history.interval = interval_;
  }
  const auto self = static_cast<std::uint16_t>(thread + 1);
  const bool atomic = is_atomic(kind);
  if (history.writer != 0 && history.writer != self && !(atomic && history.writer_atomic)) {
    const bool many = history.writer == byte_history::several;
    return earlier_access{many, history.writer - 1u, true, places_[history.write_place]};
  }
  if (writes(kind) && history.reader != 0 && history.reader != self && !(atomic && history.readers_atomic)) {
    const bool many = history.reader == byte_history::several;
    return earlier_access{many, history.reader - 1u, false, places_[history.read_place]};
  }
  if (writes(kind)) {
    history.writer_atomic = atomic && (history.writer == 0 || history.writer_atomic);
    history.writer = history.writer == 0 || history.writer == self ? self : byte_history::several;
    history.write_place = place;
  }
  if (reads(kind)) {
    history.readers_atomic = atomic && (history.reader == 0 || history.readers_atomic);
    history.reader = history.reader == 0 || history.reader == self ? self : byte_history::several;
    history.read_place = place;
  }
  return std::nullopt;
}

std::optional<earlier_access> race_history::add(bool direct, std::uintptr_t first, std::size_t bytes, unsigned thread,
                                                access_kind kind, const void* place) {
  const std::uint16_t number = number_of(place);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (auto race = add(history_of(direct, first + i), thread, kind, number)) return race;
  }
  return std::nullopt;
}

}  // namespace twill::simt
