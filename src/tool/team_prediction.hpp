#pragma once

// Times of global transposes on simulated GPUs: kernels by the simulator's model, links by their rate.

#include <functional>
#include <string>
#include <vector>

#include <twill/device.hpp>
#include <twill/global_transpose.hpp>

namespace twill::tool {

/// A run takes as long as its kernels on the device that needs longest, or as its links: a lower bound.
struct team_prediction {
  double kernel_seconds = 0;  ///< of the largest rank; the ranks of one simulated device count as one device each
  double link_seconds = 0;    ///< of the rank that sends or receives most; 0 where nothing leaves a device
  bool sampled = false;
  /// Kernels wait for other devices, and the simulator predicts none that do: they count as a copy of as many bytes.
  bool as_copies = false;

  double seconds() const { return kernel_seconds > link_seconds ? kernel_seconds : link_seconds; }
};

/// Why the links between `members` have no rate; empty where they have one, or there is only one member.
std::string missing_link(const std::vector<device>& members);

/// Runs `run`, which is a run of `plan` over `members`, and predicts its time.
/// Throws: unsupported (a device that does not predict, or has no link in its datasheet; a transport other than direct
///   and copy); what `run` throws.
team_prediction predict_run(const std::vector<device>& members, const global_transpose& plan,
                            const std::function<void()>& run);

/// What links were taken, and what they carry: "NVLink 4, 391 GB/s out of each device, measured; 12 of 12 pairs of
/// ranks exchange 4.19 MB". Empty for a single rank.
std::string links_text(const std::vector<device>& members, const global_transpose& plan);

}  // namespace twill::tool
