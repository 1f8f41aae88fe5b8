#pragma once

// Teams of MPI processes. Header only, so that libtwill needs no MPI: compile with the application's own mpi.h.

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <twill/team.hpp>

namespace twill::mpi {

namespace detail {

inline void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

/// A duplicate of the application's communicator, so that messages never match the application's. It is freed with the
/// original, since freeing is collective.
struct private_communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  int teams = 0;  // made on it, the same on all ranks: each has a tag of its own
};

inline int free_private(MPI_Comm, int, void* value, void*) {
  auto* const own = static_cast<private_communicator*>(value);
  MPI_Comm_free(&own->comm);
  delete own;
  return MPI_SUCCESS;
}

/// Collective.
inline private_communicator& private_of(MPI_Comm parent) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &free_private, &made, nullptr), "MPI_Comm_create_keyval");
    return made;
  }();
  void* found = nullptr;
  int there = 0;
  check(MPI_Comm_get_attr(parent, key, static_cast<void*>(&found), &there), "MPI_Comm_get_attr");
  if (there != 0) return *static_cast<private_communicator*>(found);
  auto made = std::make_unique<private_communicator>();
  check(MPI_Comm_dup(parent, &made->comm), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_set_attr(parent, key, made.get()), "MPI_Comm_set_attr");
  return *made.release();
}

inline int count_of(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::runtime_error("a message of " + std::to_string(bytes) + " bytes is too long for MPI");
  }
  return static_cast<int>(bytes);
}

struct transfer {
  MPI_Request request = MPI_REQUEST_NULL;
  int peer = 0;
  bool receives = false;
};

/// What the functions of a link share.
class link_state {
 public:
  link_state(const private_communicator& own, int tag, std::chrono::milliseconds timeout)
      : comm_(own.comm), tag_(tag), timeout_(std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(87600))) {
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  void* send(int peer, const void* data, std::size_t bytes) const {
    auto one = std::make_unique<transfer>();
    one->peer = peer;
    check(MPI_Isend(data, count_of(bytes), MPI_BYTE, peer, tag_, comm_, &one->request), "MPI_Isend");
    return one.release();
  }

  void* receive(int peer, void* data, std::size_t bytes) const {
    auto one = std::make_unique<transfer>();
    one->peer = peer;
    one->receives = true;
    check(MPI_Irecv(data, count_of(bytes), MPI_BYTE, peer, tag_, comm_, &one->request), "MPI_Irecv");
    return one.release();
  }

  void finish(void* what) {
    const std::unique_ptr<transfer> one(static_cast<transfer*>(what));
    const auto end = deadline();
    for (int done = 0, turn = 0; done == 0; ++turn) {
      check(MPI_Test(&one->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0 && !wait_a_little(turn, end)) give_up(*one);
    }
  }

  /// Nothing is taken: MPI goes on with the messages that are under way.
  void progress() const {
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }

  /// By messages between all pairs rather than MPI_Allgather, which would not say who is missing.
  void gather(const void* mine, void* all, std::size_t bytes) {
    const auto count = static_cast<std::size_t>(size_);
    std::vector<MPI_Request> requests(2 * count, MPI_REQUEST_NULL);
    for (int peer = 0; peer < size_; ++peer) {
      auto* const to = static_cast<unsigned char*>(all) + static_cast<std::size_t>(peer) * bytes;
      check(MPI_Irecv(to, count_of(bytes), MPI_BYTE, peer, tag_ + 1, comm_, &requests[static_cast<std::size_t>(peer)]),
            "MPI_Irecv");
    }
    for (int peer = 0; peer < size_; ++peer) {
      check(MPI_Isend(mine, count_of(bytes), MPI_BYTE, peer, tag_ + 1, comm_,
                      &requests[count + static_cast<std::size_t>(peer)]),
            "MPI_Isend");
    }
    const auto end = deadline();
    for (int done = 0, turn = 0; done == 0; ++turn) {
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (done == 0 && !wait_a_little(turn, end)) give_up(requests);
    }
  }

 private:
  using clock = std::chrono::steady_clock;

  /// After one failure nothing is waited for any more.
  clock::time_point deadline() const { return clock::now() + (failed_ ? std::chrono::milliseconds(0) : timeout_); }

  static bool wait_a_little(int turn, clock::time_point end) {
    if (clock::now() > end) return false;
    if (turn > 100) std::this_thread::yield();  // processes may share a CPU
    return true;
  }

  static void cancel(MPI_Request& request) {
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }

  std::string within() const { return " within " + std::to_string(timeout_.count()) + " ms"; }

  [[noreturn]] void give_up(transfer& one) {
    failed_ = true;
    cancel(one.request);
    throw std::runtime_error((one.receives ? "no message from rank " : "no message was taken by rank ") +
                             std::to_string(one.peer) + within());
  }

  [[noreturn]] void give_up(std::vector<MPI_Request>& requests) {
    failed_ = true;
    std::string missing;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      int done = 0;
      if (MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0) continue;
      if (i < static_cast<std::size_t>(size_)) missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(i);
      cancel(requests[i]);
    }
    throw std::runtime_error(missing + " did not come" + within());
  }

  MPI_Comm comm_;
  int tag_;
  std::chrono::milliseconds timeout_;
  int rank_ = 0, size_ = 1;
  bool failed_ = false;
};

inline void require_this_thread() {
  int level = MPI_THREAD_SINGLE, is_main = 0;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (level <= MPI_THREAD_FUNNELED && is_main == 0) {
    throw std::runtime_error("MPI was initialised for calls from its main thread alone: ask MPI_Init_thread for more");
  }
}

/// Whether MPI takes memory of a device, as it says itself; false where it cannot be asked.
inline bool takes_memory_of(const device& on) {
  [[maybe_unused]] const std::string& backend = on.properties().backend;
#ifdef MPIX_CUDA_AWARE_SUPPORT
  if (backend == "cuda") return MPIX_Query_cuda_support() == 1;
#endif
#ifdef MPIX_ROCM_AWARE_SUPPORT
  if (backend == "hip") return MPIX_Query_rocm_support() == 1;
#endif
  return false;
}

}  // namespace detail

/// A team of the processes of `comm`, each with one device. Collective. `comm` stays the application's: it must not be
/// freed before the team and its plans are of no more use.
/// Memory: messages are sent from device memory where MPI says that it takes it, else through host memory.
/// Order: MPI is called while teams and plans are made or tuned, and in runs by transports mpi and mixed, on the
///   calling thread. With several threads, MPI must have been initialised for that (MPI_THREAD_SERIALIZED or more).
/// Throws: as team::of_link; std::runtime_error where MPI is not ready.
inline team make_team(MPI_Comm comm, const device& mine, std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  detail::require_this_thread();
  auto& own = detail::private_of(comm);
  constexpr int tags = 16000;  // MPI has 32,767 at least
  const int tag = 2 * (own.teams++ % (tags / 2));
  const auto state = std::make_shared<detail::link_state>(own, tag, timeout);
  team_link link;
  link.rank = state->rank();
  link.size = state->size();
  link.allgather = [state](const void* part, void* all, std::size_t bytes) { state->gather(part, all, bytes); };
  link.send = [state](int peer, const void* data, std::size_t bytes) { return state->send(peer, data, bytes); };
  link.receive = [state](int peer, void* data, std::size_t bytes) { return state->receive(peer, data, bytes); };
  link.takes_device_memory = detail::takes_memory_of(mine);
  link.finish = [state](void* transfer) { state->finish(transfer); };
  link.progress = [state] { state->progress(); };
  return team::of_link(mine, std::move(link));
}

}  // namespace twill::mpi
