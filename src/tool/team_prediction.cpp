#include "team_prediction.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include <twill/error.hpp>
#include <twill/simt.hpp>

namespace twill::tool {
namespace {

/// Bytes from each rank to each, what stays included.
class exchanged_bytes {
 public:
  exchanged_bytes(const global_transpose& plan, int ranks) : ranks_(ranks) {
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) bytes_.push_back(plan.bytes_sent(from, to));
    }
  }

  std::int64_t at(int from, int to) const { return bytes_[static_cast<std::size_t>(from * ranks_ + to)]; }

  std::int64_t read_by(int rank) const {
    std::int64_t sum = 0;
    for (int to = 0; to < ranks_; ++to) sum += at(rank, to);
    return sum;
  }

  /// Of the ranks on a device: the most that one of them reads, and that over the mean.
  std::int64_t most_read(const std::vector<device>& members, const device& on) const {
    std::int64_t most = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (members[static_cast<std::size_t>(rank)] == on) most = std::max(most, read_by(rank));
    }
    return most;
  }
  double imbalance(const std::vector<device>& members, const device& on) const {
    std::int64_t all = 0, count = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (!(members[static_cast<std::size_t>(rank)] == on)) continue;
      all += read_by(rank);
      ++count;
    }
    return all == 0 ? 1 : static_cast<double>(most_read(members, on) * count) / static_cast<double>(all);
  }

  double link_seconds(const std::vector<device>& members) const {
    double longest = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      std::int64_t out = 0, in = 0, most_out = 0, most_in = 0;
      for (int peer = 0; peer < ranks_; ++peer) {
        if (peer == rank) continue;
        out += at(rank, peer);
        in += at(peer, rank);
        most_out = std::max(most_out, at(rank, peer));
        most_in = std::max(most_in, at(peer, rank));
      }
      const device& on = members[static_cast<std::size_t>(rank)];
      longest = std::max({longest, predicted_link_seconds(on, out, most_out), predicted_link_seconds(on, in, most_in)});
    }
    return longest;
  }

  std::string text() const {
    std::int64_t least = 0, most = 0;
    int pairs = 0;
    for (int from = 0; from < ranks_; ++from) {
      for (int to = 0; to < ranks_; ++to) {
        if (from == to || at(from, to) == 0) continue;
        least = pairs == 0 ? at(from, to) : std::min(least, at(from, to));
        most = std::max(most, at(from, to));
        ++pairs;
      }
    }
    const std::string range = least == most ? "" : fmt::format("{:.3g} to ", static_cast<double>(least) * 1e-6);
    return fmt::format("{} of {} pairs of ranks exchange {}{:.3g} MB", pairs, ranks_ * (ranks_ - 1), range,
                       static_cast<double>(most) * 1e-6);
  }

 private:
  int ranks_;
  std::vector<std::int64_t> bytes_;
};

}  // namespace

std::string missing_link(const std::vector<device>& members) {
  try {
    for (const device& on : members) {
      if (members.size() > 1) link_of(on);
    }
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

team_prediction predict_run(const std::vector<device>& members, const global_transpose& plan,
                            const std::function<void()>& run) {
  if (plan.via() != transport::direct && plan.via() != transport::copy) {
    throw error(errc::unsupported, fmt::format("times of transport {} are not predicted", name(plan.via())));
  }
  const exchanged_bytes bytes(plan, static_cast<int>(members.size()));
  team_prediction found;
  found.link_seconds = members.size() > 1 ? bytes.link_seconds(members) : 0;
  // Ranks on one simulated device stand for as many devices: each takes its share of the kernels' time.
  std::vector<device> devices;
  for (const device& on : members) {
    if (std::find(devices.begin(), devices.end(), on) == devices.end()) devices.push_back(on);
  }
  std::function<void()> work = run;
  for (const device& on : devices) {
    const auto ranks = static_cast<double>(std::count(members.begin(), members.end(), on));
    work = [&found, &bytes, &members, on, ranks, inner = std::move(work)] {
      const predicted_time time = predict(on, inner);
      const double largest = time.seconds / ranks * bytes.imbalance(members, on);
      const double copy = predicted_copy_seconds(on, static_cast<std::size_t>(bytes.most_read(members, on)));
      const bool as_copy = time.waiting > 0 && copy > largest;
      found.kernel_seconds = std::max(found.kernel_seconds, as_copy ? copy : largest);
      found.sampled = found.sampled || time.sampled;
      found.as_copies = found.as_copies || as_copy;
    };
  }
  work();
  return found;
}

std::string links_text(const std::vector<device>& members, const global_transpose& plan) {
  if (members.size() == 1) return {};
  return link_of(members[0]) + "; " + exchanged_bytes(plan, static_cast<int>(members.size())).text();
}

}  // namespace twill::tool
