// The calls of the simulator's library, in a command that is built without it: no device predicts, none is profiled.

#include <twill/error.hpp>
#include <twill/profile.hpp>
#include <twill/simt.hpp>

namespace twill {
namespace {

[[noreturn]] void fail_without_simulator(const device& on) {
  throw error(errc::unsupported, on.properties().name + " is not simulated (this build of Twill has no simulator) " +
                                     "build with simt in TWILL_BACKENDS");
}

}  // namespace

bool predicts(const device&) {
  return false;
}

predicted_time predict(const device& on, const std::function<void()>&) {
  fail_without_simulator(on);
}

double predicted_copy_seconds(const device& on, std::size_t) {
  fail_without_simulator(on);
}

double predicted_link_seconds(const device& on, std::int64_t, std::int64_t) {
  fail_without_simulator(on);
}

std::string link_of(const device& on) {
  fail_without_simulator(on);
}

std::string predictions_compared_with(const device& on) {
  fail_without_simulator(on);
}

void set_checks(const device& on, bool) {
  fail_without_simulator(on);
}

profile take_profile(const device& on, const std::function<void()>&, const profile_options&) {
  fail_without_simulator(on);
}

}  // namespace twill
