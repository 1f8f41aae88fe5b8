#include "processes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include <twill/error.hpp>

#include "output_file.hpp"

namespace twill::tool {
namespace {

/// How a step ended in one process.
struct outcome {
  std::int32_t code = -1;  // of an errc; -1: well
  char text[500] = {};
};

/// device_properties without its strings.
struct packed_properties {
  char name[64], backend[16], vendor[64], model[128], architecture[32];
  std::size_t memory_bytes, cache_bytes, shared_bytes_per_block;
  double peak_bytes_per_second;
  int multiprocessors, warp_size, max_threads_per_block;
  bool is_gpu;
};

template <std::size_t Size>
void put(char (&to)[Size], const std::string& text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

packed_properties packed(const device_properties& p) {
  packed_properties to{};
  put(to.name, p.name);
  put(to.backend, p.backend);
  put(to.vendor, p.vendor);
  put(to.model, p.model);
  put(to.architecture, p.architecture);
  to.memory_bytes = p.memory_bytes;
  to.cache_bytes = p.cache_bytes;
  to.shared_bytes_per_block = p.shared_bytes_per_block;
  to.peak_bytes_per_second = p.peak_bytes_per_second;
  to.multiprocessors = p.multiprocessors;
  to.warp_size = p.warp_size;
  to.max_threads_per_block = p.max_threads_per_block;
  to.is_gpu = p.is_gpu;
  return to;
}

device_properties unpacked(const packed_properties& from) {
  device_properties p;
  p.name = from.name;
  p.backend = from.backend;
  p.vendor = from.vendor;
  p.model = from.model;
  p.architecture = from.architecture;
  p.memory_bytes = from.memory_bytes;
  p.cache_bytes = from.cache_bytes;
  p.shared_bytes_per_block = from.shared_bytes_per_block;
  p.peak_bytes_per_second = from.peak_bytes_per_second;
  p.multiprocessors = from.multiprocessors;
  p.warp_size = from.warp_size;
  p.max_threads_per_block = from.max_threads_per_block;
  p.is_gpu = from.is_gpu;
  return p;
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
  } catch (const write_error& e) {
    failed(errc::out_of_memory, e.what());  // of disk: it could not run
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

std::vector<device_properties> processes::all_properties(const device_properties& mine) const {
  const packed_properties own = packed(mine);
  std::vector<packed_properties> all(static_cast<std::size_t>(size()));
  gather(&own, all.data(), sizeof own);
  std::vector<device_properties> properties;
  for (const packed_properties& one : all) properties.push_back(unpacked(one));
  return properties;
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
