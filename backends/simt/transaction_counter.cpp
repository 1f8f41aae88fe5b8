#include "transaction_counter.hpp"

namespace twill::simt {

void global_counts::add(const global_counts& other) {
  requests += other.requests;
  transactions += other.transactions;
  ideal_transactions += other.ideal_transactions;
  bytes_used += other.bytes_used;
  bytes_moved += other.bytes_moved;
}

void shared_counts::add(const shared_counts& other) {
  requests += other.requests;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
}

void access_counts::add(const access_counts& other) {
  global_loads.add(other.global_loads);
  global_stores.add(other.global_stores);
  global_atomics.add(other.global_atomics);
  shared_loads.add(other.shared_loads);
  shared_stores.add(other.shared_stores);
  shared_atomics.add(other.shared_atomics);
}

transaction_counter::transaction_counter(std::string_view architecture) : rules_(rules_of(architecture)) {}

access_counts counts_of(const warp_access& access, const global_cost& cost) {
  access_counts counts;
  auto& kind = access.atomic ? counts.global_atomics : access.store ? counts.global_stores : counts.global_loads;
  kind = {cost.requests, cost.transactions, cost.ideal_transactions, cost.bytes_used, cost.bytes_moved};
  return counts;
}

access_counts counts_of(const warp_access& access, const shared_cost& cost) {
  access_counts counts;
  auto& kind = access.atomic ? counts.shared_atomics : access.store ? counts.shared_stores : counts.shared_loads;
  kind = {1, cost.wavefronts, cost.ideal_wavefronts};
  return counts;
}

const global_cost* transaction_counter::add(const warp_access& access) {
  if (access.active == 0) return nullptr;
  access_counts counts;
  const bool global = access.space == memory_space::global;
  if (global) {
    last_ = {};
    rules_.global(access, last_);
    counts = counts_of(access, last_);
  } else {
    const shared_cost cost = rules_.shared(access);
    counts = counts_of(access, cost);
    bank_counts& banks = banks_[access.site];
    for (unsigned bank = 0; bank < shared_cost::most_banks; ++bank) {
      banks.wavefronts[bank] += cost.bank_wavefronts[bank];
      banks.ideal[bank] += cost.bank_ideal[bank];
    }
  }
  total_.add(counts);
  sites_[access.site].add(counts);
  return global ? &last_ : nullptr;
}

}  // namespace twill::simt
