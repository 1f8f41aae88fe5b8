#pragma once

// A team of threads: the link of ranks that run side by side in this process.

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <twill/team.hpp>

namespace support {

/// What all ranks share. `patience` is how long a rank waits for another.
class thread_links {
 public:
  explicit thread_links(int size, std::chrono::milliseconds patience = std::chrono::seconds(20))
      : size_(size), patience_(patience) {}

  twill::team_link link(int rank, bool with_messages = true) {
    twill::team_link one;
    one.rank = rank;
    one.size = size_;
    one.allgather = [this, rank](const void* mine, void* all, std::size_t bytes) { gather(rank, mine, all, bytes); };
    if (!with_messages) return one;
    one.send = [this, rank](int peer, const void* data, std::size_t bytes) -> void* {
      const auto* first = static_cast<const unsigned char*>(data);
      const std::lock_guard<std::mutex> lock(mutex_);
      mail_[{rank, peer}].emplace_back(first, first + bytes);
      came_.notify_all();
      return new transfer{rank, peer, nullptr, 0};
    };
    one.receive = [rank](int peer, void* data, std::size_t bytes) -> void* {
      return new transfer{peer, rank, static_cast<unsigned char*>(data), bytes};
    };
    one.finish = [this](void* what) {
      const std::unique_ptr<transfer> one(static_cast<transfer*>(what));
      if (one->data != nullptr) deliver(*one);
    };
    return one;
  }

 private:
  struct transfer {
    int from, to;
    unsigned char* data;  // null: a message that was sent
    std::size_t bytes;
  };

  void deliver(const transfer& to) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto& box = mail_[{to.from, to.to}];
    if (!came_.wait_for(lock, patience_, [&] { return !box.empty(); })) {
      throw std::runtime_error("no message from rank " + std::to_string(to.from));
    }
    if (box.front().size() != to.bytes) throw std::runtime_error("a message of another size");
    std::memcpy(to.data, box.front().data(), to.bytes);
    box.pop_front();
  }

  void gather(int rank, const void* mine, void* all, std::size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto generation = generation_;
    if (came_here_ == 0) parts_.assign(static_cast<std::size_t>(size_), {});
    const auto* first = static_cast<const unsigned char*>(mine);
    parts_[static_cast<std::size_t>(rank)].assign(first, first + bytes);
    if (++came_here_ == size_) {
      whole_.clear();
      for (const auto& part : parts_) whole_.insert(whole_.end(), part.begin(), part.end());
      came_here_ = 0;
      ++generation_;
      came_.notify_all();
    } else if (!came_.wait_for(lock, patience_, [&] { return generation_ != generation; })) {
      std::string missing;
      for (int r = 0; r < size_; ++r) {
        if (parts_[static_cast<std::size_t>(r)].empty()) missing += " " + std::to_string(r);
      }
      throw std::runtime_error("missing:" + missing);
    }
    if (whole_.size() != bytes * static_cast<std::size_t>(size_)) throw std::runtime_error("parts of several sizes");
    std::memcpy(all, whole_.data(), whole_.size());
  }

  const int size_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::pair<int, int>, std::deque<std::vector<unsigned char>>> mail_;
  std::vector<std::vector<unsigned char>> parts_;
  std::vector<unsigned char> whole_;
  int came_here_ = 0;
  std::uint64_t generation_ = 0;
};

/// What `call` throws says.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/// Calls f(rank) on a thread each and returns what each threw; "" where it did not.
inline std::vector<std::string> on_each_rank(int size, const std::function<void(int)>& f) {
  std::vector<std::string> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        f(rank);
      } catch (const std::exception& e) {
        thrown[static_cast<std::size_t>(rank)] = e.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return thrown;
}

}  // namespace support
