#pragma once

// Graphs and host work of the CUDA runtime, for tests. backends/hip has the same.

#include "native.hpp"

namespace twill::cuda {

using native_graph = cudaGraph_t;
using native_graph_run = cudaGraphExec_t;

/// Of the highest priority.
inline native_error create_urgent_stream(native_stream* stream) {
  int least = 0, greatest = 0;
  const native_error error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (error != native_success) return error;
  return cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest);
}

/// Threads of other libraries, such as NCCL's, stay free to allocate meanwhile.
inline native_error begin_capture(native_stream stream) {
  return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
}
inline native_error end_capture(native_stream stream, native_graph* graph) {
  return cudaStreamEndCapture(stream, graph);
}
inline native_error instantiate(native_graph_run* run, native_graph graph) {
  return cudaGraphInstantiateWithFlags(run, graph, 0);
}
inline native_error launch_graph(native_graph_run run, native_stream stream) {
  return cudaGraphLaunch(run, stream);
}
inline native_error destroy_graph(native_graph graph) {
  return cudaGraphDestroy(graph);
}
inline native_error destroy_graph_run(native_graph_run run) {
  return cudaGraphExecDestroy(run);
}

/// Calls f(data) on a thread of the runtime when the stream gets there.
inline native_error call_from_stream(native_stream stream, void (*f)(void*), void* data) {
  return cudaLaunchHostFunc(stream, f, data);
}

}  // namespace twill::cuda
