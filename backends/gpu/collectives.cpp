// Messages by NCCL, or by RCCL, which has the same functions: loaded at run time, so that neither is needed otherwise.

#include <dlfcn.h>

#include <cstring>
#include <memory>
#include <string>

#include "backends/error.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "peers.hpp"

namespace twill::TWILL_BACKEND {
namespace {

// What the libraries' documents fix: results (0 is success), an opaque communicator, an id of 128 bytes that is passed
// by value, and the number of the type of bytes.
using result = int;
struct native_communicator;
constexpr int byte_type = 0;

class library final : public detail::collectives {
 public:
  library() : loaded_(dlopen(collectives_library, RTLD_NOW | RTLD_LOCAL)) {
    if (loaded_ == nullptr) {
      const char* const why = dlerror();
      fail_missing(why == nullptr ? "it was not found" : why);
    }
    find(get_id_, "ncclGetUniqueId");
    find(init_, "ncclCommInitRank");
    find(comm_abort_, "ncclCommAbort");
    find(begin_, "ncclGroupStart");
    find(end_, "ncclGroupEnd");
    find(send_, "ncclSend");
    find(receive_, "ncclRecv");
    find(text_, "ncclGetErrorString");
  }

  detail::communicator_id new_id() override {
    detail::communicator_id id{};
    require(get_id_(&id), "ncclGetUniqueId");
    return id;
  }
  void begin_group() override { require(begin_(), "ncclGroupStart"); }
  void end_group() override { require(end_(), "ncclGroupEnd"); }
  std::unique_ptr<detail::communicator> join(detail::backend_device& device, const detail::communicator_id& id,
                                             int rank, int size) override;

  void send(native_communicator* on, void* stream, const void* data, std::size_t bytes, int peer) const {
    require(send_(data, bytes, byte_type, peer, on, stream), "ncclSend");
  }
  void receive(native_communicator* on, void* stream, void* data, std::size_t bytes, int peer) const {
    require(receive_(data, bytes, byte_type, peer, on, stream), "ncclRecv");
  }
  void release(native_communicator* on) const noexcept { static_cast<void>(comm_abort_(on)); }

 private:
  [[noreturn]] static void fail_missing(const std::string& why) {
    detail::fail(errc::unsupported, std::string(collectives_library) + " cannot be used", why,
                 std::string("install ") + collectives_package + ", or name the folder in LD_LIBRARY_PATH");
  }

  template <class Function>
  void find(Function& to, const char* name) const {
    to = reinterpret_cast<Function>(dlsym(loaded_, name));
    if (to == nullptr) fail_missing(std::string("it has no ") + name);
  }

  void require(result code, const char* what) const {
    if (code == 0) return;
    detail::fail(errc::device_fault, std::string(what) + " failed", text_(code),
                 "set NCCL_DEBUG=WARN to see more, and give each rank a GPU of its own");
  }

  void* loaded_;
  result (*get_id_)(detail::communicator_id*) = nullptr;
  result (*init_)(native_communicator**, int size, detail::communicator_id, int rank) = nullptr;
  result (*comm_abort_)(native_communicator*) = nullptr;
  result (*begin_)() = nullptr;
  result (*end_)() = nullptr;
  result (*send_)(const void*, std::size_t, int type, int peer, native_communicator*, void* stream) = nullptr;
  result (*receive_)(void*, std::size_t, int type, int peer, native_communicator*, void* stream) = nullptr;
  const char* (*text_)(result) = nullptr;
};

class joined final : public detail::communicator {
 public:
  joined(const library& of, int ordinal) : library_(of), ordinal_(ordinal) {}
  ~joined() override {
    const device_guard guard(ordinal_);
    if (native_ != nullptr) library_.release(native_);
  }
  joined(const joined&) = delete;
  joined& operator=(const joined&) = delete;

  void send(void* stream, const void* data, std::size_t bytes, int peer) override {
    const device_guard guard(ordinal_);
    library_.send(native_, stream, data, bytes, peer);
  }
  void receive(void* stream, void* data, std::size_t bytes, int peer) override {
    const device_guard guard(ordinal_);
    library_.receive(native_, stream, data, bytes, peer);
  }

  native_communicator** native() { return &native_; }

 private:
  const library& library_;
  int ordinal_;
  native_communicator* native_ = nullptr;  // written when the group ends
};

std::unique_ptr<detail::communicator> library::join(detail::backend_device& device, const detail::communicator_id& id,
                                                    int rank, int size) {
  const int ordinal = dynamic_cast<gpu_device&>(device).ordinal();
  auto one = std::make_unique<joined>(*this, ordinal);
  const device_guard guard(ordinal);
  require(init_(one->native(), size, id, rank), "ncclCommInitRank");
  return one;
}

}  // namespace

// Never unloaded: its threads may run until the process ends.
detail::collectives& gpu_device::messages() {
  static auto* const loaded = new library;
  return *loaded;
}

}  // namespace twill::TWILL_BACKEND
