// scan_storm [DEVICE [ROUNDS]]: the library's scan with blocks held up at random, again and again, each result checked
// on the device. It says which round was wrong and ends with 1; a hang is for whoever runs it to notice. Built for cuda
// where that backend is, else for simt, where each round has threads and blocks run in another order.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <twill/simt.hpp>
#include <twill/twill.hpp>

#include "launch.hpp"
#include "scan/gpu/plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

/// Half of the tiles wait a little, one of eight for as long as a tile takes, or ten. The spin limit is low, so that
/// others recompute such tiles.
struct shaky_pace {
  static constexpr bool by_index = true;
  static constexpr int most_polls = 3;
  __device__ static void before_tile(const kernels::scan_problem& p, std::uint32_t tile) {
    std::uint32_t x = tile * 2654435761u ^ *static_cast<const std::uint32_t*>(p.in);
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    const std::uint32_t turns = x % 8 == 0 ? (x >> 8) % 100 : x % 8 < 4 ? (x >> 8) % 8 : 0;
    for (std::uint32_t i = 0; i < turns; ++i) load_relaxed(p.ticket);
  }
};

/// Counts the elements of an exclusive scan of `count` elements from `first` on that are not as `sums` has them.
template <class T>
__global__ void count_wrong(const T* out, const T* sums, std::int64_t first, std::int64_t count, std::uint32_t* wrong) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count && out[i] != static_cast<T>(sums[first + i] - sums[first])) atomic_add(wrong, 1u);
}

template <class T>
class storm {
 public:
  storm(const device& on, std::int64_t most)
      : stream_(on),
        most_(most),
        in_(on, size()),
        sums_(on, size()),
        out_(on, size()),
        wrong_(on, 1),
        scratch_(on, scan_scratch_bytes(on, element_type_of<T>, most)) {
    std::vector<T> numbers(size()), sums(size());
    T sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<T>(static_cast<std::uint64_t>(random_()) * 0x9e3779b97f4a7c15u >> 9);
      sums[i] = sum;
      sum = static_cast<T>(sum + numbers[i]);
    }
    in_.upload(numbers, stream_);
    sums_.upload(sums, stream_);
    stream_.wait();
  }

  /// How many elements of one scan are wrong.
  std::uint32_t round() {
    const std::int64_t vectors = kernels::short_row_threads * kernels::short_row_vectors_for(sizeof(T));
    const std::int64_t least = vectors * 16 / std::int64_t{sizeof(T)} + 1;  // more than a block's registers hold
    const std::int64_t count = least + static_cast<std::int64_t>(random_()) % (most_ - least + 1);
    const std::int64_t aligned = random_() % 2 == 0 ? 4 : 1;  // to 16 bytes, or to an element
    const std::int64_t first = static_cast<std::int64_t>(random_() % 64) * aligned;
    detail::scan_args a{};
    const bool in_place = random_() % 2 == 0;
    if (in_place) copy(stream_, in_.data() + first, out_.data(), count);
    a.in = in_place ? out_.data() : in_.data() + first;
    a.out = out_.data();
    a.type = element_type_of<T>;
    a.options.exclusive = true;
    a.rows = 1;
    a.cols = a.in_ld = a.out_ld = count;
    const bool in_small_tiles = random_() % 2 == 0;
    a.options.op = in_small_tiles ? scan_op::sum : scan_op::min;  // which decides about the tiles only
    const scan_plan plan = plan_scan(a);
    if (plan.by != scan_kernel::tiles) throw std::runtime_error("the scan is not by tiles");
    a.scratch = scratch_.data();
    if (random_() % 4 == 0) fill_bytes(stream_, scratch_.data(), 0xff, plan.bytes());  // else from the round before
    fill_bytes(stream_, wrong_.data(), 0, wrong_.size_bytes());
    const stream_ref stream(stream_);
    const detail::work_queue queue{stream.on().impl().get(), stream.native()};
    if (in_small_tiles) {
      launch_tiles<shaky_pace>(queue, a, plan, kernels::in_small_tiles<kernels::integer_sum<T>>{});
    } else {
      launch_tiles<shaky_pace>(queue, a, plan, kernels::integer_sum<T>{});
    }
    const detail::launch_config config{{static_cast<unsigned>((count + 255) / 256), 1, 1}, {256, 1, 1}, 0};
    check(launch(queue, config, &count_wrong<T>, static_cast<const T*>(out_.data()),
                 static_cast<const T*>(sums_.data()), first, count, wrong_.data()),
          "launch of the check");
    std::uint32_t wrong = 0;
    wrong_.download(&wrong, stream_);
    stream_.wait();
    return wrong;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(most_) + 256; }

  std::mt19937 random_{1};
  twill::stream stream_;
  std::int64_t most_;
  buffer<T> in_, sums_, out_;
  buffer<std::uint32_t> wrong_;
  raw_buffer scratch_;
};

int run(const std::string& name, int rounds) {
  const auto on = device::open(name);
  const bool simulated = on.properties().backend == "simt";
  const std::int64_t most = simulated ? 150000 : std::int64_t{1} << 22;
  storm<std::uint32_t> words(on, most);
  storm<std::uint64_t> long_words(on, most / 2);
  for (int i = 0; i < rounds; ++i) {
    if (simulated) set_interleaving(on, interleaving::shuffled, static_cast<std::uint64_t>(i));
    const auto wrong = words.round() + long_words.round();
    if (wrong == 0) continue;
    std::printf("round %d on %s: %u elements are wrong\n", i, name.c_str(), wrong);
    return 1;
  }
  std::printf("%d rounds on %s, two scans each: no element is wrong\n", rounds, name.c_str());
  return 0;
}

}  // namespace
}  // namespace twill::TWILL_BACKEND

int main(int argc, char** argv) {
  try {
    return twill::TWILL_BACKEND::run(argc > 1 ? argv[1] : "simt:h200", argc > 2 ? std::atoi(argv[2]) : 20);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
