// Every call that the library makes to a backend fails once, at each place: always one twill::error, nothing leaked,
// and the next call works.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

#include "support/simt_faulty_device.hpp"
#include "support/tried_calls.hpp"

namespace twill::cpu {
extern detail::operation_table operations;
}
namespace twill::simt {
extern detail::operation_table operations;
}

namespace {

using support::bytes_of;
using support::call_memory;
using support::tried_call;
using twill::raw_buffer;

/// The code of the twill::error that `call` throws; none when nothing is thrown.
std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const twill::error& e) {
    return twill::name(e.code());
  }
  return "nothing";
}

/// A device that can be made to fail, open.
template <class Faulty>
struct opened {
  std::shared_ptr<Faulty> backend;
  twill::device device;

  explicit opened(std::shared_ptr<Faulty> one, const twill::detail::operation_table& operations)
      : backend(std::move(one)), device(backend) {
    backend->operations = &operations;
  }
};

opened<support::faulty_cpu> faulty_cpu() {
  return opened<support::faulty_cpu>(std::make_shared<support::faulty_cpu>(), twill::cpu::operations);
}

opened<support::faulty_simt> faulty_simt() {
  auto properties = twill::device::open("simt").properties();
  properties.multiprocessors = 4;
  auto one = std::make_shared<support::faulty_simt>(std::move(properties), twill::simt::grid_limits{},
                                                    twill::simt::schedule{}, 1);
  return opened<support::faulty_simt>(std::move(one), twill::simt::operations);
}

/// Fails each backend call of each of `calls` once; the stream, the memory and the scratch outlive the fault. Returns
/// how many places there were.
template <class Faulty>
int fail_everywhere(const opened<Faulty>& on, const std::vector<tried_call>& calls) {
  auto& faults = on.backend->faults;
  const twill::stream stream(on.device);
  const raw_buffer in(on.device, support::array_bytes), out(on.device, support::array_bytes),
      scratch(on.device, support::scratch_bytes);
  const raw_buffer reduction(on.device, std::size_t{8} << 20);
  const call_memory memory{stream, in, out, scratch, reduction};
  const auto host = support::tried_bytes(0);
  const auto renew = [&] {
    twill::upload_bytes(stream, host.data(), in.data(), host.size());
    twill::upload_bytes(stream, host.data(), out.data(), host.size());
    stream.wait();
  };
  int places = 0;
  for (const tried_call& call : calls) {
    CAPTURE(call.name);
    renew();
    faults.disarm();
    call.run(memory);
    const int count = faults.calls();
    const auto expected = bytes_of(out, stream);
    const std::size_t before = on.backend->outstanding();
    for (int n = 1; n <= count; ++n) {
      CAPTURE(n);
      faults.arm(n);
      const std::string code = thrown_by([&] { call.run(memory); });
      CAPTURE(faults.last());
      CHECK(code != "nothing");
      CHECK(code != "invalid_argument");
      CHECK(faults.faults() == 1);
      faults.disarm();
      CHECK(on.backend->outstanding() == before);
      CHECK_NOTHROW(stream.wait());
      renew();
      CHECK_NOTHROW(call.run(memory));
      CHECK(bytes_of(out, stream) == expected);
      ++places;
    }
  }
  return places;
}

/// What an application does from its first stream to its last event; all it made is gone when it returns or throws.
void use_everything(const twill::device& device) {
  twill::stream stream(device), other(device);
  twill::event start(device), end(device);
  std::vector<int> host(5000, 1), found(5000);
  twill::buffer<int> in(device, 5000), out(device, 5000);
  start.record(stream);
  in.upload(host, stream);
  twill::upload(stream, host.data(), out.data(), {10, 100, 200, 300});
  twill::copy(stream, in.data(), out.data(), {50, 100, 100, 0});
  end.record(stream);
  other.wait(end);
  end.wait();
  out.download(found, other);
  twill::download(other, out.data(), found.data(), {10, 100, 200, 300});
  const raw_buffer scratch(device, twill::reduce_scratch_bytes(device, in.data(), out.data(), 5000));
  twill::reduce(other, in.data(), out.data(), 5000, scratch);
  twill::event third(std::move(start));
  start = twill::event(device);
  other = twill::stream(device);
  twill::buffer<int> third_buffer(std::move(in));
  in = twill::buffer<int>(device, 3);
  stream.wait();
  other.wait();
}

template <class Faulty>
int fail_lifetimes(const opened<Faulty>& on) {
  auto& faults = on.backend->faults;
  faults.disarm();
  use_everything(on.device);
  const int count = faults.calls();
  CHECK(on.backend->outstanding() == 0);
  for (int n = 1; n <= count; ++n) {
    CAPTURE(n);
    faults.arm(n);
    CHECK(thrown_by([&] { use_everything(on.device); }) != "nothing");
    CAPTURE(faults.last());
    CHECK(faults.faults() == 1);
    CHECK(on.backend->outstanding() == 0);
    faults.disarm();
    CHECK_NOTHROW(use_everything(on.device));
  }
  CHECK(on.backend->outstanding() == 0);
  CHECK(on.backend->wrong_returns() == 0);
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("injected faults");

TEST_CASE("a call that fails throws one error, and works when it is made again") {
  const auto calls = support::tried_calls();
  const int on_simt = fail_everywhere(faulty_simt(), calls), on_cpu = fail_everywhere(faulty_cpu(), calls);
  MESSAGE("places: " << on_simt << " on simt, " << on_cpu << " on cpu");
  CHECK(on_simt >= static_cast<int>(calls.size()));  // each launches or copies something
  CHECK(on_cpu >= 2);
}

TEST_CASE("what was made is given back, also behind a fault") {
  const int on_simt = fail_lifetimes(faulty_simt()), on_cpu = fail_lifetimes(faulty_cpu());
  MESSAGE("places: " << on_simt << " on simt, " << on_cpu << " on cpu");
  CHECK(std::min(on_simt, on_cpu) >= 20);
}

TEST_CASE("streams and events: one destruction for each that was made, whatever was moved") {
  const auto on = faulty_simt();
  auto& backend = *on.backend;
  {
    const twill::event first(on.device);
    CHECK(backend.outstanding() == 1);
    twill::event second(on.device);
    second = twill::event(on.device);  // the first of the two is destroyed here
    CHECK(backend.outstanding() == 2);
  }
  CHECK(backend.outstanding() == 0);
  {
    twill::stream first(on.device), second(on.device);
    void* const kept = second.native();
    first = std::move(second);
    CHECK(backend.outstanding() == 1);
    CHECK(first.native() == kept);
  }
  CHECK(backend.outstanding() == 0);
  {
    twill::buffer<int> first(on.device, 10), second(on.device, 20);
    first = std::move(second);
    CHECK(backend.outstanding() == 1);
    CHECK(first.size() == 20);
  }
  CHECK(backend.outstanding() == 0);
  CHECK(backend.wrong_returns() == 0);
}

TEST_SUITE_END();
