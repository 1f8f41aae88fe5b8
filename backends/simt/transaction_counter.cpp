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
  shared_loads.add(other.shared_loads);
  shared_stores.add(other.shared_stores);
}

transaction_counter::transaction_counter(std::string_view architecture) : rules_(rules_of(architecture)) {}

access_counts counts_of(const warp_access& access, const global_cost& cost) {
  access_counts counts;
  (access.store ? counts.global_stores : counts.global_loads) = {
      cost.requests, cost.transactions, cost.ideal_transactions, cost.bytes_used, cost.bytes_moved};
  return counts;
}

access_counts counts_of(const warp_access& access, const shared_cost& cost) {
  access_counts counts;
  (access.store ? counts.shared_stores : counts.shared_loads) = {1, cost.wavefronts, cost.ideal_wavefronts};
  return counts;
}

void transaction_counter::add(const warp_access& access) {
  if (access.active == 0) return;
  access_counts counts;
  if (access.space == memory_space::global) {
    global_cost cost;
    rules_.global(access, cost);
    counts = counts_of(access, cost);
  } else {
    counts = counts_of(access, rules_.shared(access));
  }
  total_.add(counts);
  sites_[access.site].add(counts);
}

}  // namespace twill::simt
