// Predicting the time of what runs on a simulated device.

#include <twill/simt.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "backends/error.hpp"
#include "backends/simt/timing/prediction.hpp"
#include "simt_device.hpp"

namespace twill {
namespace {

constexpr std::string_view prefix = "simt:";

bool has_model(const device& on) {
  return dynamic_cast<simt::simt_device*>(on.impl().get()) != nullptr &&
         on.properties().name.compare(0, prefix.size(), prefix) == 0;
}

simt::datasheet sheet_of(const device& on) {
  if (!has_model(on)) {
    detail::fail(errc::unsupported, on.properties().name + " predicts no times", "it is no simulated GPU with a model",
                 "open one, such as \"simt:h200\"");
  }
  return simt::find_datasheet(std::string_view(on.properties().name).substr(prefix.size()));
}

simt::datasheet recording_sheet_of(const device& on) {
  simt::datasheet sheet = sheet_of(on);
  if (!predicts(on)) {
    detail::fail(errc::unsupported, on.properties().name + " predicts no times of kernels in this build",
                 "its kernels are compiled for a sanitizer", "configure without TWILL_SANITIZE");
  }
  return sheet;
}

simt::link_sheet link_sheet_of(const device& on) {
  simt::link_sheet link = sheet_of(on).link;
  if (link.name.empty()) {
    detail::fail(errc::unsupported, "the datasheet of " + on.properties().name + " has no link",
                 "times of exchanges between devices are calculated from it", "add \"link\": see presets/devices");
  }
  return link;
}

// Bytes a second out of a device: to all peers, and to one. What copies reach, where that was measured.
struct link_rates {
  double all, peer;
};

link_rates rates_of(const simt::link_sheet& link) {
  const double all = link.copy_bytes_per_second > 0 ? link.copy_bytes_per_second : link.bytes_per_second;
  const double peer = link.peer_bytes_per_second > 0 ? link.peer_bytes_per_second : link.bytes_per_second;
  return {all, peer * all / link.bytes_per_second};
}

std::string gigabytes(double bytes) {
  const std::string tenths = std::to_string(std::llround(bytes * 1e-8));
  return (tenths.size() > 1 ? tenths.substr(0, tenths.size() - 1) : "0") +
         (tenths.back() == '0' ? "" : std::string(".") + tenths.back());
}

// Records until it goes.
class recording_scope {
 public:
  recording_scope(simt::simt_device& on, simt::access_sink& sink) : on_(on) { on_.record(&sink, 0); }
  ~recording_scope() { on_.stop_recording(); }
  recording_scope(const recording_scope&) = delete;
  recording_scope& operator=(const recording_scope&) = delete;

 private:
  simt::simt_device& on_;
};

}  // namespace

bool predicts(const device& on) {
#ifdef TWILL_SIMT_HOOKS
  constexpr bool records = true;
#else
  constexpr bool records = false;
#endif
  return records && has_model(on);
}

std::string predictions_compared_with(const device& on) {
  std::string said = sheet_of(on).compared_with;
  return said == "none" ? std::string() : said;
}

predicted_time predict(const device& on, const std::function<void()>& work) {
  simt::timing::launch_predictor predictor(recording_sheet_of(on));
  {
    const recording_scope scope(static_cast<simt::simt_device&>(*on.impl()), predictor);
    work();
  }
  predicted_time found;
  found.seconds = predictor.seconds();
  found.launches = predictor.launches().size();
  double longest = 0;
  for (const auto& launch : predictor.launches()) {
    found.waiting += launch.waits ? 1 : 0;
    found.sampled = found.sampled || launch.recorded < launch.blocks;
    if (launch.seconds <= longest) continue;
    longest = launch.seconds;
    found.busiest_channel = launch.busiest_channel;
  }
  return found;
}

double predicted_copy_seconds(const device& on, std::size_t bytes) {
  const auto machine = simt::timing::machine_of(sheet_of(on));
  return machine.launch_seconds + 2 * static_cast<double>(bytes) / machine.copy_bytes_per_second;
}

double predicted_link_seconds(const device& on, std::int64_t bytes_sent, std::int64_t bytes_to_one_peer) {
  const link_rates rates = rates_of(link_sheet_of(on));
  detail::require(bytes_to_one_peer >= 0 && bytes_sent >= bytes_to_one_peer,
                  "predicted_link_seconds: " + std::to_string(bytes_to_one_peer) + " of " + std::to_string(bytes_sent) +
                      " bytes go to one peer",
                  "a part is from 0 to the whole", "give the bytes to all peers first");
  return std::max(static_cast<double>(bytes_sent) / rates.all, static_cast<double>(bytes_to_one_peer) / rates.peer);
}

std::string link_of(const device& on) {
  const simt::link_sheet link = link_sheet_of(on);
  const link_rates rates = rates_of(link);
  std::string text = link.name + ", " + gigabytes(rates.all) + " GB/s out of each device";
  if (rates.peer < rates.all) text += " and " + gigabytes(rates.peer) + " to one peer";
  return text + (link.copy_bytes_per_second > 0 ? ", measured" : ", published");
}

}  // namespace twill
