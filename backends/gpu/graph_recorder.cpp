#include "backends/gpu/graph_recorder.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "device_guard.hpp"
#include "graph.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

/// What a stream waits at.
class gate {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  static void wait(void* self) {
    auto& gate = *static_cast<class gate*>(self);
    std::unique_lock<std::mutex> lock(gate.mutex_);
    gate.in_time_ = gate.opened_.wait_for(lock, std::chrono::seconds(20), [&] { return gate.open_; });
  }
  bool in_time() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return in_time_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false, in_time_ = true;
};

class recorder final : public detail::graph_recorder {
 public:
  recorder(int device, bool urgent) {
    const device_guard current(device);
    check(urgent ? create_urgent_stream(&stream_) : create_stream(&stream_), "creation of a stream");
  }
  ~recorder() override {
    gate_.open();
    forget();
    ignore(destroy(stream_));
  }

  void* stream() const noexcept override { return stream_; }
  void begin() override { check(begin_capture(stream_), "begin of a capture"); }
  void end() override { check(end_capture(stream_, &recorded_), "end of a capture"); }
  // The graph before is destroyed here: in begin() or end() another stream of the thread may be capturing, and a call
  // that frees memory invalidates what it captures.
  void prepare() override {
    destroy_prepared();
    std::swap(graph_, recorded_);
    check(instantiate(&run_, graph_), "making a graph");
  }
  void replay() override { check(launch_graph(run_, stream_), "launch of a graph"); }
  void forget() noexcept override {
    ignore(synchronize(stream_));
    destroy_prepared();
    if (recorded_ != nullptr) ignore(destroy_graph(recorded_));
    recorded_ = nullptr;
  }
  void hold() override { check(call_from_stream(stream_, &gate::wait, &gate_), "holding a stream"); }
  bool release() override {
    const bool held = gate_.in_time();
    gate_.open();
    return held;
  }

 private:
  void destroy_prepared() noexcept {
    if (run_ != nullptr) ignore(destroy_graph_run(run_));
    if (graph_ != nullptr) ignore(destroy_graph(graph_));
    run_ = nullptr;
    graph_ = nullptr;
  }

  native_stream stream_ = nullptr;
  native_graph recorded_ = nullptr, graph_ = nullptr;  // not made ready yet, and made
  native_graph_run run_ = nullptr;
  gate gate_;
};

std::unique_ptr<detail::graph_recorder> make(int device, bool urgent) {
  return std::make_unique<recorder>(device, urgent);
}

[[maybe_unused]] const bool added = detail::graph_recorders().emplace(backend_name, &make).second;

}  // namespace
}  // namespace twill::TWILL_BACKEND
