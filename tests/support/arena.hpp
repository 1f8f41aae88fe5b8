#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

namespace support {

/// One call of an operation, and the plain loops that say what it should leave. Sizes are in bytes; 0 where there is
/// no such memory.
struct drawn_call {
  std::string text;  ///< what was drawn, for the report of a failure
  std::size_t in_bytes = 0, in_offset = 0, out_bytes = 0, out_offset = 0, scratch_bytes = 0, scratch_offset = 0;
  std::function<void(twill::stream_ref, const unsigned char* in, unsigned char* out, unsigned char* scratch)> run;
  std::function<void(const unsigned char* in, unsigned char* out)> expect;
};

/// Device memory in which many calls lie side by side, each among random bytes, and what it should hold on the host.
/// They are run together and compared together, every byte of the memory, so that also a stray write far from its call
/// is found, and a hundred thousand calls take no hundred thousand waits.
class arena {
 public:
  arena(twill::stream_ref stream, std::size_t bytes)
      : stream_(stream), in_(stream.on(), bytes), out_(stream.on(), bytes), host_in_(bytes), host_out_(bytes) {
    std::mt19937_64 random(1);
    for (auto* host : {&host_in_, &host_out_}) {
      for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
        const std::uint64_t word = random();
        std::memcpy(host->data() + i, &word, 8);
      }
    }
    twill::upload_bytes(stream_, host_in_.data(), in_.data(), bytes);
    twill::upload_bytes(stream_, host_out_.data(), out_.data(), bytes);
    stream_.wait();
  }

  std::size_t free_bytes() const { return host_in_.size() - std::max(in_used_, out_used_); }
  static std::size_t needed_by(const drawn_call& call) {
    return std::max(call.in_bytes + slack, call.out_bytes + call.scratch_bytes + 2 * slack);
  }

  /// Starts the call in the device's memory, and does it on the host.
  void start(const drawn_call& call) {
    const std::size_t in = place(in_used_, call.in_bytes, call.in_offset);
    const std::size_t out = place(out_used_, call.out_bytes, call.out_offset);
    const std::size_t scratch = place(out_used_, call.scratch_bytes, call.scratch_offset);
    started_.push_back({call.text, out_used_});
    call.run(stream_, static_cast<const unsigned char*>(in_.data()) + in,
             static_cast<unsigned char*>(out_.data()) + out,
             call.scratch_bytes == 0 ? nullptr : static_cast<unsigned char*>(out_.data()) + scratch);
    call.expect(host_in_.data() + in, host_out_.data() + out);
    if (call.scratch_bytes > 0) free_.push_back({scratch, call.scratch_bytes});
  }

  /// Waits for all calls, compares all memory and makes it free again. Returns what was drawn for the first call that
  /// is wrong; "" when none is.
  std::string finish() {
    std::vector<unsigned char> in(host_in_.size()), out(host_out_.size());
    twill::download_bytes(stream_, in_.data(), in.data(), in.size());
    twill::download_bytes(stream_, out_.data(), out.data(), out.size());
    stream_.wait();
    for (const span& each : free_) std::memcpy(host_out_.data() + each.first, out.data() + each.first, each.bytes);
    std::string wrong = in == host_in_ ? "" : "an input was changed, by one of these or a call before: " + all_texts();
    if (wrong.empty() && out != host_out_) wrong = text_at(first_difference(out));
    in_used_ = out_used_ = 0;
    started_.clear();
    free_.clear();
    return wrong;
  }

 private:
  static constexpr std::size_t slack = 512;  // of a call's place: its misalignment, and a guard before it

  struct span {
    std::size_t first, bytes;
  };
  struct started_call {
    std::string text;
    std::size_t out_end;
  };

  static std::size_t place(std::size_t& used, std::size_t bytes, std::size_t offset) {
    const std::size_t first = used + 128 + offset;
    if (bytes > 0) used = (first + bytes + 127) / 128 * 128;
    return first;
  }

  std::size_t first_difference(const std::vector<unsigned char>& found) const {
    std::size_t i = 0;
    while (found[i] == host_out_[i]) ++i;
    return i;
  }
  std::string text_at(std::size_t byte) const {
    for (const started_call& each : started_) {
      if (byte < each.out_end) return each.text + ", first wrong byte " + std::to_string(byte) + " of the arena";
    }
    return "a write behind all calls, at byte " + std::to_string(byte) + " of the arena: " + all_texts();
  }
  std::string all_texts() const {
    std::string all;
    for (const started_call& each : started_) all += each.text + "; ";
    return all;
  }

  twill::stream_ref stream_;
  twill::raw_buffer in_, out_;
  std::vector<unsigned char> host_in_, host_out_;
  std::size_t in_used_ = 0, out_used_ = 0;
  std::vector<started_call> started_;
  std::vector<span> free_;
};

/// Runs a call in allocations that end with its arrays and begin less than a vector before them, where a check of
/// accesses finds any that leaves an array. Returns what was drawn when the result is wrong, else "".
inline std::string run_tightly(twill::stream_ref stream, const drawn_call& call) {
  const std::size_t in_offset = call.in_offset % 16, out_offset = call.out_offset % 16;
  std::vector<unsigned char> host_in(in_offset + call.in_bytes), host_out(out_offset + call.out_bytes);
  std::mt19937 random(1);
  for (auto* host : {&host_in, &host_out}) {
    for (unsigned char& byte : *host) byte = static_cast<unsigned char>(random());
  }
  const auto& device = stream.on();
  const twill::raw_buffer in(device, host_in.size()), out(device, host_out.size()),
      scratch(device, call.scratch_offset % 16 + call.scratch_bytes);
  twill::upload_bytes(stream, host_in.data(), in.data(), host_in.size());
  twill::upload_bytes(stream, host_out.data(), out.data(), host_out.size());
  const auto at = [](const twill::raw_buffer& memory, std::size_t offset) {
    return memory.data() == nullptr ? nullptr : static_cast<unsigned char*>(memory.data()) + offset;
  };
  call.run(stream, at(in, in_offset), at(out, out_offset),
           call.scratch_bytes == 0 ? nullptr : at(scratch, call.scratch_offset % 16));
  call.expect(host_in.data() + in_offset, host_out.data() + out_offset);
  std::vector<unsigned char> found(host_out.size());
  twill::download_bytes(stream, out.data(), found.data(), found.size());
  stream.wait();
  return found == host_out ? "" : call.text + ", in memory of its size";
}

/// Runs all calls, as many at a time as fit. Returns what `arena::finish` does.
inline std::string run_all(twill::stream_ref stream, const std::vector<drawn_call>& calls) {
  std::size_t bytes = std::size_t{8} << 20;
  for (const drawn_call& call : calls) bytes = std::max(bytes, arena::needed_by(call));
  arena memory(stream, bytes);
  for (const drawn_call& call : calls) {
    if (arena::needed_by(call) > memory.free_bytes()) {
      const std::string wrong = memory.finish();
      if (!wrong.empty()) return wrong;
    }
    memory.start(call);
  }
  return memory.finish();
}

}  // namespace support
