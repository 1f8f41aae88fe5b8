#pragma once

// Graphs and host work of the HIP runtime, for tests. backends/cuda has the same.

#include <memory>

#include "native.hpp"

namespace twill::hip {

using native_graph = hipGraph_t;
using native_graph_run = hipGraphExec_t;

/// Of the highest priority.
inline native_error create_urgent_stream(native_stream* stream) {
  int least = 0, greatest = 0;
  const native_error error = hipDeviceGetStreamPriorityRange(&least, &greatest);
  if (error != native_success) return error;
  return hipStreamCreateWithPriority(stream, hipStreamNonBlocking, greatest);
}

/// Threads of other libraries, such as NCCL's, stay free to allocate meanwhile.
inline native_error begin_capture(native_stream stream) {
  return hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal);
}
inline native_error end_capture(native_stream stream, native_graph* graph) {
  return hipStreamEndCapture(stream, graph);
}
inline native_error instantiate(native_graph_run* run, native_graph graph) {
  return hipGraphInstantiateWithFlags(run, graph, 0);
}
inline native_error launch_graph(native_graph_run run, native_stream stream) {
  return hipGraphLaunch(run, stream);
}
inline native_error destroy_graph(native_graph graph) {
  return hipGraphDestroy(graph);
}
inline native_error destroy_graph_run(native_graph_run run) {
  return hipGraphExecDestroy(run);
}

/// Calls f(data) on a thread of the runtime when the stream gets there.
inline native_error call_from_stream(native_stream stream, void (*f)(void*), void* data) {
  struct call {
    void (*f)(void*);
    void* data;
  };
  const auto run = [](native_stream, native_error, void* given) {
    const std::unique_ptr<call> one(static_cast<call*>(given));
    one->f(one->data);
  };
  auto* one = new call{f, data};
  const native_error error = hipStreamAddCallback(stream, run, one, 0);
  if (error != native_success) delete one;
  return error;
}

}  // namespace twill::hip
