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

#include <twill/ladder/sieve.hpp>
#include <twill/twill.hpp>

#include "support/simt_faulty_device.hpp"

namespace twill::cpu {
extern const detail::operation_table operations;
}
namespace twill::simt {
extern const detail::operation_table operations;
}

namespace {

using twill::raw_buffer;
using twill::stream_ref;

/// The memory of one call: made before, kept through its faults.
struct call_memory {
  stream_ref stream;
  const raw_buffer &in, &out, &scratch, &reduction;
};

/// One call of an operation. What it leaves in the output is compared with a run without faults.
struct tried_call {
  std::string name;
  std::function<void(const call_memory&)> run;
};

constexpr std::size_t array_bytes = std::size_t{1} << 18, scratch_bytes = std::size_t{1} << 20;

template <class T>
T* as(const raw_buffer& memory) {
  return static_cast<T*>(memory.data());
}

std::vector<tried_call> moves() {
  std::vector<tried_call> all;
  const auto transpose = [&](const std::string& name, const twill::transpose_shape& shape) {
    all.push_back({name, [=](const call_memory& m) {
                     twill::transpose(m.stream, as<const std::uint16_t>(m.in), as<std::uint16_t>(m.out), shape);
                   }});
  };
  transpose("transpose, tiles", {128, 256});
  transpose("transpose, misaligned rows", {131, 211});
  transpose("transpose, a batch", {17, 33, 37});
  transpose("transpose, many strips", {2, 3, 3000, 7});
  const auto in_place = [&](const std::string& name, const twill::transpose_in_place_shape& shape) {
    all.push_back({name, [=](const call_memory& m) {
                     twill::transpose_in_place(m.stream, as<std::uint16_t>(m.out), shape, m.scratch);
                   }});
  };
  in_place("transpose_in_place, squares", {64, 64, 3});
  in_place("transpose_in_place, a copy through scratch", {300, 200});
  all.push_back({"transpose_in_place, least scratch", [](const call_memory& m) {
                   const twill::transpose_in_place_shape s{3, 40001};
                   twill::transpose_in_place(
                       m.stream, as<std::uint16_t>(m.out), s,
                       {m.scratch.data(), twill::transpose_in_place_scratch_bytes(m.stream.on(), 2, s)});
                 }});
  all.push_back({"permute", [](const call_memory& m) {
                   const twill::permute_shape s{{17, 3, 5, 19}, {3, 2, 1, 0}, {}, {}};
                   twill::permute(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), s);
                 }});
  all.push_back({"copy", [](const call_memory& m) {
                   const twill::copy_shape s{30, 31, 32, 33};
                   twill::copy(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), s);
                 }});
  all.push_back({"copy of one row", [](const call_memory& m) {
                   twill::copy(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), 5000);
                 }});
  all.push_back({"reverse", [](const call_memory& m) {
                   twill::reverse(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), 5001);
                 }});
  all.push_back({"reverse_in_place",
                 [](const call_memory& m) { twill::reverse_in_place(m.stream, as<std::uint32_t>(m.out), 5001); }});
  all.push_back({"fill_bytes", [](const call_memory& m) { twill::fill_bytes(m.stream, m.out.data(), 5, 1000); }});
  return all;
}

std::vector<tried_call> sums() {
  std::vector<tried_call> all;
  all.push_back({"reduce", [=](const call_memory& m) {
                   twill::reduce(m.stream, as<const int>(m.in), as<int>(m.out), 60000, m.reduction);
                 }});
  all.push_back({"reduce_rows", [=](const call_memory& m) {
                   twill::reduce_rows(m.stream, as<const int>(m.in), as<int>(m.out), {30, 2001}, m.reduction);
                 }});
  all.push_back({"reduce_columns", [=](const call_memory& m) {
                   twill::reduce_columns(m.stream, as<const int>(m.in), as<int>(m.out), {2001, 30}, m.reduction);
                 }});
  all.push_back({"reduce_segments", [=](const call_memory& m) {
                   twill::fill_bytes(m.stream, m.scratch.data(), 0, 8 * 6);  // empty ones
                   twill::reduce_segments(m.stream, as<const int>(m.in), as<int>(m.out),
                                          as<const std::int64_t>(m.scratch), 5, m.reduction);
                 }});
  for (const bool two_passes : {false, true}) {
    all.push_back({two_passes ? "scan, two passes" : "scan", [=](const call_memory& m) {
                     twill::scan_shape shape;
                     shape.rows = 3, shape.cols = 20001;
                     twill::scan(m.stream, as<const int>(m.in), as<int>(m.out), shape, m.scratch,
                                 {twill::scan_op::sum, false, two_passes});
                   }});
  }
  all.push_back({"sieve_count", [](const call_memory& m) {
                   twill::sieve_count(m.stream, as<std::uint64_t>(m.out), {0, 100000}, m.scratch);
                 }});
  all.push_back({"sieve_list", [](const call_memory& m) {
                   twill::sieve_list(m.stream, as<std::uint64_t>(m.out), as<std::uint64_t>(m.out) + 2000, 2000,
                                     {0, 10000}, m.scratch);
                 }});
  return all;
}

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

std::vector<unsigned char> bytes_of(const raw_buffer& memory, stream_ref stream) {
  std::vector<unsigned char> host(memory.size_bytes());
  twill::download_bytes(stream, host.data(), memory.data(), host.size());
  stream.wait();
  return host;
}

/// Fails each backend call of each of `calls` once; the stream, the memory and the scratch outlive the fault. Returns
/// how many places there were.
template <class Faulty>
int fail_everywhere(const opened<Faulty>& on, const std::vector<tried_call>& calls) {
  auto& faults = on.backend->faults;
  const twill::stream stream(on.device);
  const raw_buffer in(on.device, array_bytes), out(on.device, array_bytes), scratch(on.device, scratch_bytes);
  const raw_buffer reduction(on.device, std::size_t{8} << 20);
  const call_memory memory{stream, in, out, scratch, reduction};
  std::vector<unsigned char> host(array_bytes);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
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
  auto calls = moves();
  for (auto& call : sums()) calls.push_back(std::move(call));
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
