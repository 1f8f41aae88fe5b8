#include <twill/team.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <string>
#include <utility>

#include "backends/error.hpp"
#include "core/call.hpp"
#include "team/state.hpp"

namespace twill {
namespace detail {
namespace {

// Unique to this process: process ids are not, in containers of one host.
std::uint64_t process_number() {
  static const std::uint64_t drawn = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  return drawn ^ (static_cast<std::uint64_t>(getpid()) * 0x9e3779b97f4a7c15u);  // a child of fork() is another one
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

template <std::size_t Size>
void put(char (&to)[Size], const std::string& text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

struct introduction {
  char device[64], host[128];
  std::uint64_t process;
  std::int64_t process_id, size;
};

verdict verdict_of(const std::exception_ptr& thrown) {
  verdict v;
  try {
    std::rethrow_exception(thrown);
  } catch (const error& e) {
    v.code = static_cast<std::int32_t>(e.code());
    put(v.text, e.what());
  } catch (const std::bad_alloc&) {
    v.code = static_cast<std::int32_t>(errc::out_of_memory);
    put(v.text, "the host has no more memory");
  } catch (const std::exception& e) {
    v.code = static_cast<std::int32_t>(errc::device_fault);
    put(v.text, e.what());
  }
  return v;
}

}  // namespace

team_state::team_state(std::vector<device> devices, team_link link)
    : size_(link.allgather ? link.size : static_cast<int>(devices.size())),
      devices_(std::move(devices)),
      link_(std::move(link)) {
  if (link_.allgather) {
    local_ = {link_.rank};
  } else {
    for (int i = 0; i < size_; ++i) local_.push_back(i);
  }
  introduce();
}

void team_state::introduce() {
  own_process_ = process_number();
  own_host_ = host_name();
  std::vector<introduction> mine;
  for (const device& on : devices_) {
    introduction one{};
    put(one.device, on.properties().name);
    put(one.host, own_host_);
    one.process = own_process_;
    one.process_id = getpid();
    one.size = size_;
    mine.push_back(one);
  }
  const std::vector<introduction> all = gather(mine);
  own_host_ = mine.front().host;  // as long as the others have it
  for (int rank = 0; rank < size_; ++rank) {
    const introduction& one = all[static_cast<std::size_t>(rank)];
    if (one.size != size_) {
      fail(errc::invalid_argument, "ranks disagree on the team's size",
           "rank " + std::to_string(rank) + " says " + std::to_string(one.size) + ", rank " +
               std::to_string(local_.front()) + " " + std::to_string(size_),
           "give each the same");
    }
    members_.push_back({one.device, one.host, one.process_id});
    processes_.push_back(one.process);
  }
}

void team_state::gather_bytes(const void* mine, void* all, std::size_t bytes) const {
  try {
    link_.allgather(mine, all, bytes);
  } catch (const std::exception& e) {
    fail(errc::device_fault, "the team's link failed on rank " + std::to_string(link_.rank), e.what(),
         "see that every rank runs and makes the same calls");
  }
}

void team_state::together(const std::function<void(int)>& step) const {
  std::vector<verdict> mine(local_.size());
  for (std::size_t i = 0; i < local_.size(); ++i) {
    try {
      step(static_cast<int>(i));
    } catch (...) {
      mine[i] = verdict_of(std::current_exception());
    }
  }
  const std::vector<verdict> all = gather(mine);
  const auto bad = std::find_if(all.begin(), all.end(), [](const verdict& v) { return v.code >= 0; });
  if (bad == all.end()) return;
  throw error(static_cast<errc>(bad->code), "rank " + std::to_string(bad - all.begin()) + ": " + bad->text);
}

std::string team_state::first_reason(const std::function<std::string(int)>& why) const {
  struct reason {
    char text[300];
  };
  std::vector<reason> mine(local_.size());
  together([&](int i) { put(mine[static_cast<std::size_t>(i)].text, why(i)); });
  for (const reason& one : gather(mine)) {
    if (one.text[0] != 0) return one.text;
  }
  return "";
}

}  // namespace detail

team team::of_devices(const std::vector<device>& members) {
  return detail::in_call("team::of_devices", [&] {
    detail::require(!members.empty(), "no members", "the list is empty", "give at least one device");
    for (const device& one : members) one.impl();
    return team(std::make_shared<detail::team_state>(members, team_link{}));
  });
}

team team::of_link(const device& mine, team_link link) {
  return detail::in_call("team::of_link", [&] {
    mine.impl();
    detail::require(link.allgather != nullptr, "the link has no allgather", "ranks cannot agree without", "set it");
    detail::require(link.size >= 1 && link.rank >= 0 && link.rank < link.size, "no such rank in the team",
                    "rank is from 0 to size - 1", "give the rank and size of the link");
    const bool some = link.send || link.receive || link.finish, all = link.send && link.receive && link.finish;
    detail::require(some == all, "the link has a part of the messages", "send, receive and finish belong together",
                    "set all of them or none");
    return team(std::make_shared<detail::team_state>(std::vector<device>{mine}, std::move(link)));
  });
}

int team::size() const {
  return state()->size();
}

const std::vector<int>& team::local_ranks() const {
  return state()->local();
}

const device& team::local_device(int i) const {
  detail::require(i >= 0 && i < state()->local_count(), "team::local_device: no such local rank",
                  "there is one for each of local_ranks()", "count from 0");
  return state()->local_device(i);
}

const std::vector<team_member>& team::members() const {
  return state()->members();
}

}  // namespace twill
