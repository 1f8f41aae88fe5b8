#pragma once

// A call of every operation, and of its paths that differ in what they ask of a backend: for tests of what surrounds
// the calls.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <twill/ladder/sieve.hpp>
#include <twill/twill.hpp>

namespace support {

/// The memory of one call: made before, kept through its faults.
struct call_memory {
  twill::stream_ref stream;
  const twill::raw_buffer &in, &out, &scratch, &reduction;
};

/// One call of an operation. What it leaves in the output is compared with a run without faults.
struct tried_call {
  std::string name;
  std::function<void(const call_memory&)> run;
};

inline constexpr std::size_t array_bytes = std::size_t{1} << 18, scratch_bytes = std::size_t{1} << 20;

template <class T>
T* as(const twill::raw_buffer& memory) {
  return static_cast<T*>(memory.data());
}

inline std::vector<tried_call> tried_moves() {
  std::vector<tried_call> all;
  const auto transpose = [&](const std::string& name, const twill::transpose_shape& shape) {
    all.push_back({name, [=](const call_memory& m) {
                     twill::transpose(m.stream, as<const std::uint16_t>(m.in), as<std::uint16_t>(m.out), shape);
                   }});
  };
  transpose("transpose, tiles", {128, 256});
  transpose("transpose, misaligned rows", {131, 211});
  transpose("transpose, a batch", {17, 33, 37});
  transpose("transpose, many strips", {2, 3, 3000, 7});
  const auto in_place = [&](const std::string& name, const twill::transpose_in_place_shape& shape) {
    all.push_back({name, [=](const call_memory& m) {
                     twill::transpose_in_place(m.stream, as<std::uint16_t>(m.out), shape, m.scratch);
                   }});
  };
  in_place("transpose_in_place, squares", {64, 64, 3});
  in_place("transpose_in_place, a copy through scratch", {300, 200});
  all.push_back({"transpose_in_place, least scratch", [](const call_memory& m) {
                   const twill::transpose_in_place_shape s{3, 40001};
                   twill::transpose_in_place(
                       m.stream, as<std::uint16_t>(m.out), s,
                       {m.scratch.data(), twill::transpose_in_place_scratch_bytes(m.stream.on(), 2, s)});
                 }});
  all.push_back({"permute", [](const call_memory& m) {
                   const twill::permute_shape s{{17, 3, 5, 19}, {3, 2, 1, 0}, {}, {}};
                   twill::permute(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), s);
                 }});
  all.push_back({"copy", [](const call_memory& m) {
                   const twill::copy_shape s{30, 31, 32, 33};
                   twill::copy(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), s);
                 }});
  all.push_back({"copy of one row", [](const call_memory& m) {
                   twill::copy(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), 5000);
                 }});
  all.push_back({"reverse", [](const call_memory& m) {
                   twill::reverse(m.stream, as<const std::uint32_t>(m.in), as<std::uint32_t>(m.out), 5001);
                 }});
  all.push_back({"reverse_in_place",
                 [](const call_memory& m) { twill::reverse_in_place(m.stream, as<std::uint32_t>(m.out), 5001); }});
  all.push_back({"fill_bytes", [](const call_memory& m) { twill::fill_bytes(m.stream, m.out.data(), 5, 1000); }});
  all.push_back({"fill", [](const call_memory& m) { twill::fill(m.stream, as<double>(m.out), 1.5, 5001); }});
  return all;
}

inline std::vector<tried_call> tried_sums() {
  std::vector<tried_call> all;
  all.push_back({"reduce", [=](const call_memory& m) {
                   twill::reduce(m.stream, as<const int>(m.in), as<int>(m.out), 60000, m.reduction);
                 }});
  all.push_back({"reduce_rows", [=](const call_memory& m) {
                   twill::reduce_rows(m.stream, as<const int>(m.in), as<int>(m.out), {30, 2001}, m.reduction);
                 }});
  all.push_back({"reduce_columns", [=](const call_memory& m) {
                   twill::reduce_columns(m.stream, as<const int>(m.in), as<int>(m.out), {2001, 30}, m.reduction);
                 }});
  all.push_back({"reduce_segments", [=](const call_memory& m) {
                   twill::fill_bytes(m.stream, m.scratch.data(), 0, 8 * 6);  // empty ones
                   twill::reduce_segments(m.stream, as<const int>(m.in), as<int>(m.out),
                                          as<const std::int64_t>(m.scratch), 5, m.reduction);
                 }});
  for (const std::int64_t cols : {30, 32}) {
    all.push_back({"scan of rows", [=](const call_memory& m) {
                     twill::scan(m.stream, as<const int>(m.in), as<int>(m.out), {2001, cols}, m.scratch);
                   }});
  }
  for (const bool two_passes : {false, true}) {
    all.push_back({two_passes ? "scan, two passes" : "scan", [=](const call_memory& m) {
                     twill::scan_shape shape;
                     shape.rows = 3, shape.cols = 20001;
                     twill::scan(m.stream, as<const int>(m.in), as<int>(m.out), shape, m.scratch,
                                 {twill::scan_op::sum, false, two_passes});
                   }});
  }
  for (const bool two_passes : {false, true}) {
    all.push_back({two_passes ? "scan_segments, two passes" : "scan_segments", [=](const call_memory& m) {
                     // Offsets 0, 0x1300, 0x1301 and 0x2b00.
                     auto* const bytes = static_cast<unsigned char*>(m.reduction.data());
                     twill::fill_bytes(m.stream, bytes, 0, 8 * 4);
                     for (const int place : {1, 2}) twill::fill_bytes(m.stream, bytes + 8 * place + 1, 0x13, 1);
                     twill::fill_bytes(m.stream, bytes + 16, 1, 1);
                     twill::fill_bytes(m.stream, bytes + 25, 0x2b, 1);
                     twill::scan_segments(m.stream, as<const int>(m.in), as<int>(m.out), 20001,
                                          as<const std::int64_t>(m.reduction), 4, m.scratch,
                                          {twill::scan_op::sum, false, two_passes});
                   }});
  }
  all.push_back({"sieve_bits", [](const call_memory& m) {
                   twill::sieve_bits(m.stream, as<std::uint32_t>(m.out), {64, 100000}, m.scratch);
                 }});
  all.push_back({"sieve_count", [](const call_memory& m) {
                   twill::sieve_count(m.stream, as<std::uint64_t>(m.out), {0, 100000}, m.scratch);
                 }});
  all.push_back({"sieve_list", [](const call_memory& m) {
                   twill::sieve_list(m.stream, as<std::uint64_t>(m.out), as<std::uint64_t>(m.out) + 2000, 2000,
                                     {0, 10000}, m.scratch);
                 }});
  return all;
}

inline std::vector<tried_call> tried_calls() {
  auto all = tried_moves();
  for (auto& call : tried_sums()) all.push_back(std::move(call));
  return all;
}

/// Bytes that make ordinary numbers of every type; `seed` chooses others.
inline std::vector<unsigned char> tried_bytes(unsigned seed) {
  std::vector<unsigned char> host(array_bytes);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>((i + seed) * 2654435761u >> 13);
  return host;
}

inline std::vector<unsigned char> bytes_of(const twill::raw_buffer& memory, twill::stream_ref stream) {
  std::vector<unsigned char> host(memory.size_bytes());
  twill::download_bytes(stream, memory.data(), host.data(), host.size());
  stream.wait();
  return host;
}

}  // namespace support
