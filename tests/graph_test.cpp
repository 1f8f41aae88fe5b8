// Calls in a stream that the application made: captured in a graph, which nothing that waits or allocates can be, and
// given to a stream that is held up, which they must not wait for. Only where a backend records graphs.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include <twill/cuda.hpp>
#include <twill/hip.hpp>
#include <twill/twill.hpp>

#include "backends/gpu/graph_recorder.hpp"
#include "support/devices.hpp"
#include "support/tried_calls.hpp"

namespace {

using support::bytes_of;
using twill::detail::graph_recorder;

/// The recorder's stream, borrowed, on the first device of a backend.
twill::stream_ref borrowed(const std::string& backend, const graph_recorder& recorder) {
  if (backend == "cuda") return twill::cuda::borrow(static_cast<CUstream_st*>(recorder.stream()), 0);
  return twill::hip::borrow(static_cast<ihipStream_t*>(recorder.stream()), 0);
}

/// Calls f with a recorder and its stream for each backend that has a device here.
template <class F>
void on_each_recorder(F&& f) {
  int tried = 0, expected = 0;
  for (const auto& [backend, make] : twill::detail::graph_recorders()) {
    for (const auto& name : support::test_devices()) expected += name == backend + ":0";
    for (const auto& name : support::test_devices()) {
      if (name != backend + ":0") continue;
      CAPTURE(name);
      const auto recorder = make(0, false);
      f(*recorder, borrowed(backend, *recorder));
      ++tried;
    }
  }
  CHECK(tried == expected);
}

struct graph_memory {
  explicit graph_memory(twill::stream_ref s)
      : stream(s),
        in(s.on(), support::array_bytes),
        out(s.on(), support::array_bytes),
        scratch(s.on(), support::scratch_bytes),
        reduction(s.on(), std::size_t{8} << 20) {}
  void upload(const std::vector<unsigned char>& host) const {
    twill::fill_bytes(stream, scratch.data(), 0xff, scratch.size_bytes());  // what earlier calls left must not help
    upload_arrays(host);
  }
  void upload_arrays(const std::vector<unsigned char>& host) const {
    twill::upload_bytes(stream, host.data(), in.data(), host.size());
    twill::upload_bytes(stream, host.data(), out.data(), host.size());
    stream.wait();
  }
  support::call_memory memory() const { return {stream, in, out, scratch, reduction}; }

  twill::stream_ref stream;
  twill::raw_buffer in, out, scratch, reduction;
};

}  // namespace

TEST_SUITE_BEGIN("graph");

TEST_CASE("every operation is captured, and replayed on other data, also on what the replay before left in scratch") {
  on_each_recorder([](graph_recorder& recorder, twill::stream_ref stream) {
    const graph_memory data(stream);
    const auto first = support::tried_bytes(0), second = support::tried_bytes(12345);
    for (const auto& call : support::tried_calls()) {
      CAPTURE(call.name);
      const auto result_of = [&](const std::vector<unsigned char>& host) {
        data.upload(host);
        call.run(data.memory());
        return bytes_of(data.out, stream);
      };
      const auto of_second = result_of(second), of_first = result_of(first);
      data.upload(first);
      recorder.begin();
      call.run(data.memory());
      recorder.end();
      recorder.prepare();
      stream.wait();
      CHECK(bytes_of(data.out, stream) == first);  // recorded, not run
      for (int times = 0; times < 4; ++times) {
        const bool is_first = times % 2 != 0;
        data.upload_arrays(is_first ? first : second);
        recorder.replay();
        CHECK(bytes_of(data.out, stream) == (is_first ? of_first : of_second));
        if (times == 2) call.run(data.memory());  // not captured, on the same scratch
      }
    }
  });
}

TEST_CASE("every operation returns before its work is done") {
  on_each_recorder([](graph_recorder&, twill::stream_ref first) {
    const std::string backend = first.on().properties().backend;
    for (const auto& call : support::tried_calls()) {
      CAPTURE(call.name);
      const auto recorder = twill::detail::graph_recorders().at(backend)(0, false);
      const twill::stream_ref stream = borrowed(backend, *recorder);
      const graph_memory data(stream);
      const auto host = support::tried_bytes(0);
      data.upload(host);
      call.run(data.memory());
      const auto expected = bytes_of(data.out, stream);
      data.upload(host);
      recorder->hold();
      call.run(data.memory());
      CHECK(recorder->release());
      CHECK(bytes_of(data.out, stream) == expected);
    }
  });
}

TEST_SUITE_END();
