#pragma once

// For tests: a stream that the application made by its runtime's own call, graphs of what is launched in it, and work
// that holds the stream up. A backend that has them adds itself while the program starts.

#include <map>
#include <memory>
#include <string>

namespace twill::detail {

/// A stream of a device that does not wait for the default stream, and the graph recorded from it last.
class graph_recorder {
 public:
  virtual ~graph_recorder() = default;

  virtual void* stream() const noexcept = 0;
  /// From here on the stream records and runs nothing.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Makes what was recorded ready to run: for all streams after the last `end` and before the first `replay`, since it
  /// may wait for a device, on which a graph may wait for another that is not running yet.
  virtual void prepare() = 0;
  /// Runs in the stream what was recorded.
  virtual void replay() = 0;
  /// Waits for the stream and destroys its graphs: what they have captured can be destroyed afterwards.
  virtual void forget() noexcept = 0;

  /// Work given to the stream later waits until `release` is called, 20 seconds at most.
  virtual void hold() = 0;
  /// Whether the stream was held until now.
  virtual bool release() = 0;
};

/// On the device of that ordinal. `urgent`: in a stream of the highest priority.
using make_graph_recorder = std::unique_ptr<graph_recorder> (*)(int device, bool urgent);

/// By the name of the backend.
inline std::map<std::string, make_graph_recorder>& graph_recorders() {
  static std::map<std::string, make_graph_recorder> all;
  return all;
}

}  // namespace twill::detail
