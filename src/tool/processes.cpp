#include "processes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include <twill/error.hpp>

namespace twill::tool {
namespace {

/// How a step ended in one process.
struct outcome {
  std::int32_t code = -1;  // of an errc; -1: well
  char text[500] = {};
};

template <std::size_t Size>
void put(char (&to)[Size], const std::string& text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

outcome outcome_of(const std::function<void()>& step) {
  outcome mine;
  const auto failed = [&](errc code, const std::string& text) {
    mine.code = static_cast<std::int32_t>(code);
    put(mine.text, text);
  };
  try {
    step();
  } catch (const error& e) {
    failed(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    failed(errc::out_of_memory, "out of memory (the host has too little for this) choose a smaller --size");
  } catch (const std::exception& e) {
    failed(errc::device_fault, e.what());
  }
  return mine;
}

}  // namespace

void processes::together(const std::function<void()>& step) const {
  if (size() == 1) return step();
  const outcome mine = outcome_of(step);
  std::vector<outcome> all(static_cast<std::size_t>(size()));
  gather(&mine, all.data(), sizeof mine);
  for (const outcome& one : all) {
    if (one.code >= 0) throw error(static_cast<errc>(one.code), one.text);
  }
}

double processes::largest(double mine) const {
  std::vector<double> all(static_cast<std::size_t>(size()));
  gather(&mine, all.data(), sizeof mine);
  return *std::max_element(all.begin(), all.end());
}

std::string processes::first_text(const std::string& mine) const {
  outcome said;
  put(said.text, mine);
  std::vector<outcome> all(static_cast<std::size_t>(size()));
  gather(&said, all.data(), sizeof said);
  for (const outcome& one : all) {
    if (one.text[0] != 0) return one.text;
  }
  return "";
}

void processes::gather(const void* mine, void* all, std::size_t bytes) const {
  std::memcpy(all, mine, bytes);
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* const text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

}  // namespace twill::tool
