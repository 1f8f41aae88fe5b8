// The bits of floating-point sums, a line a device: they are the same on every device and backend. Numbers cancel and
// differ by up to 2^40, so that another order of adding would show.
//
//   reduce_bits [DEVICE...]     Default: all devices but the simulated models. Exit code 1: they differ.

#include <cinttypes>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <twill/twill.hpp>

namespace {

constexpr std::int64_t rows = 1009, cols = 997;

/// A whole number from -2^23 to 2^23 times 2^-20 to 2^19: splitmix64 of its place.
double number(std::uint64_t place) {
  std::uint64_t z = (place + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const auto digits = static_cast<std::int64_t>(z & 0xffffff) - 0x800000;
  return static_cast<double>(digits) * static_cast<double>(std::uint64_t{1} << (z >> 24) % 40) * 0x1p-20;
}

template <class T>
T element(std::uint64_t place) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using part = typename T::value_type;
    return {static_cast<part>(number(2 * place)), static_cast<part>(number(2 * place + 1))};
  } else if constexpr (std::is_same_v<T, twill::float16> || std::is_same_v<T, twill::bfloat16>) {
    return T(static_cast<float>(number(place) * 0x1p-40));
  } else {
    return static_cast<T>(number(place));
  }
}

/// All bytes of the results in one number: FNV-1a.
std::uint64_t digest(const void* from, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(from)[i]) * 0x100000001b3u;
  }
  return hash;
}

std::string hexadecimal(const void* from, std::size_t bytes) {
  std::string text;
  for (std::size_t i = bytes; i-- > 0;) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<const unsigned char*>(from)[i]);
    text += two;
  }
  return text;
}

/// The sum of all elements, and a digest of the sums of rows and of columns.
template <class T>
std::string bits_of(twill::stream_ref stream, const twill::raw_buffer& scratch) {
  std::vector<T> data(static_cast<std::size_t>(rows * cols)), results(1 + rows + cols);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = element<T>(i);
  twill::buffer<T> in(stream.on(), data.size()), out(stream.on(), results.size());
  in.upload(data, stream);
  const auto sum = twill::reduce_op::sum;
  twill::reduce(stream, in.data(), out.data(), rows * cols, scratch, {sum});
  twill::reduce_rows(stream, in.data(), out.data() + 1, {rows, cols}, scratch, {sum});
  twill::reduce_columns(stream, in.data(), out.data() + 1 + rows, {rows, cols}, scratch, {sum});
  out.download(results, stream);
  stream.wait();
  char text[64];
  std::snprintf(text, sizeof text, " %s:%016" PRIx64, hexadecimal(results.data(), sizeof(T)).c_str(),
                digest(results.data() + 1, (rows + cols) * sizeof(T)));
  return std::string(twill::name(twill::element_type_of<T>)).insert(0, " ") + text;
}

std::string bits_on(const std::string& name) {
  const auto device = twill::device::open(name);
  const twill::stream stream(device);
  const twill::raw_buffer scratch(device, std::size_t{8} << 20);
  return bits_of<float>(stream, scratch) + bits_of<double>(stream, scratch) + bits_of<twill::float16>(stream, scratch) +
         bits_of<twill::bfloat16>(stream, scratch) + bits_of<std::complex<float>>(stream, scratch) +
         bits_of<std::complex<double>>(stream, scratch);
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) {
    for (const auto& name : twill::device::list()) {
      if (name.rfind("simt:", 0) != 0) names.push_back(name);
    }
  }
  std::string first;
  bool same = true;
  for (const auto& name : names) {
    const std::string bits = bits_on(name);
    if (first.empty()) first = bits;
    same = same && bits == first;
    std::printf("%-8s%s\n", name.c_str(), bits.c_str());
  }
  return same ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "reduce_bits: %s\n", problem.what());
  return 2;
}
