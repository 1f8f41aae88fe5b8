#include "channels.hpp"

#include <initializer_list>

namespace twill::simt::timing {
namespace {

unsigned parity(std::uint64_t address, std::initializer_list<unsigned> bits) {
  unsigned sum = 0;
  for (const unsigned bit : bits) sum ^= static_cast<unsigned>(address >> bit & 1);
  return sum;
}

// Linux, drivers/ras/amd/atl: address hashing of MI200: 32 channels of 256 bytes.
unsigned mi200_channel(std::uint64_t a) {
  unsigned channel = 0;
  for (unsigned i = 0; i < 5; ++i) channel |= parity(a, {8 + i, 16 + i, 21 + i, 30 + i}) << i;
  return channel;
}

// The same source, MI300: 16 channels of a stack, 8 stacks.
unsigned mi300_channel(std::uint64_t a) {
  return parity(a, {8, 12, 15, 22, 29, 36, 43}) | parity(a, {9, 13, 16, 23, 30, 37, 44}) << 1 |
         parity(a, {10, 14, 17, 24, 31, 38, 45}) << 2 | parity(a, {11, 18, 25, 32, 39, 46}) << 3 |
         parity(a, {14, 19, 26, 33, 40, 47}) << 4 | parity(a, {12, 20, 27, 34, 41}) << 5 |
         parity(a, {13, 21, 28, 35, 42}) << 6;
}

// Any mixing does: every bit of the result depends on every bit of the block's number.
unsigned mixed(std::uint64_t block) {
  block ^= block >> 31;
  block *= 0x9e3779b97f4a7c15;
  block ^= block >> 29;
  block *= 0xbf58476d1ce4e5b9;
  return static_cast<unsigned>(block >> 32);
}

}  // namespace

unsigned channel_of(const machine& on, std::uint64_t address) {
  switch (on.map) {
    case channel_map::modulo:
      return static_cast<unsigned>(address / on.interleave_bytes % on.channels);
    case channel_map::mi200:
      return mi200_channel(address);
    case channel_map::mi300:
      return mi300_channel(address);
    case channel_map::uniform:
      break;
  }
  return mixed(address / on.interleave_bytes) % on.channels;
}

}  // namespace twill::simt::timing
