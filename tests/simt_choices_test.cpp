// Which kernels the plans of moving operations choose: on the devices that they were made for, each at least once.

#include <doctest/doctest.h>

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

#include "backends/simt/elf_file.hpp"
#include "backends/simt/kernel_name.hpp"
#include "backends/simt/simt_device.hpp"
#include "support/arena.hpp"
#include "support/directed_calls.hpp"
#include "support/reduce_arrays.hpp"
#include "support/simt_noting_device.hpp"

namespace {

using support::chosen_for;
using support::kernel_set;
using support::noting_device;
using support::noting_h200;

twill::device_properties with_multiprocessors(twill::device_properties device, int count) {
  device.multiprocessors = count;
  return device;
}

std::shared_ptr<twill::detail::backend_device> simulated(const twill::device_properties& properties, int threads) {
  auto device = std::make_shared<twill::simt::simt_device>(properties, twill::simt::grid_limits{},
                                                           twill::simt::schedule{}, threads);
  device->operations = &twill::simt::operations;
  if (!TWILL_SANITIZED) device->check(true);
  return device;
}

kernel_set chosen_on(const twill::device_properties& properties) {
  const auto noting = std::make_shared<noting_device>(properties);
  const twill::device device(noting);
  const twill::stream stream(device);
  kernel_set all;
  for (const auto& call : support::directed_calls::of(properties)) all.merge(chosen_for(*noting, stream, call));
  return all;
}

const char* const families[] = {"transpose_tiled",
                                "transpose_misaligned",
                                "transpose_narrow_cols",
                                "transpose_narrow_rows",
                                "transpose_tiled_4byte",
                                "transpose_staged",
                                "transpose_staged_tiny",
                                "transpose_staged_misaligned",
                                "transpose_staged_rows",
                                "transpose_staged_cols",
                                "transpose_vec3",
                                "permute_gather",
                                "permute_rows",
                                "permute_elementwise",
                                "permute_misaligned",
                                "reverse_staged",
                                "in_place_square",
                                "in_place_square_misaligned",
                                "in_place_square_words",
                                "in_place_small",
                                "in_place_row",
                                "in_place_square_units",
                                "in_place_column",
                                "in_place_to_scratch",
                                "copy_from_scratch",
                                "in_place_row_parts",
                                "in_place_elementwise",
                                "transpose_staged_strided",
                                "transpose_staged_blocks",
                                "permute_elementwise_vectors"};

bool is_kernel(const std::string& mangled) {
  if (mangled.find('.') != std::string::npos) return false;  // a part of one, split off by the compiler
  return std::any_of(std::begin(families), std::end(families), [&](const std::string& family) {
    return mangled.rfind("_ZN5twill4simt7kernels" + std::to_string(family.size()) + family + "I", 0) == 0;
  });
}

/// The kernels of the families, one for each set of template arguments that the library was compiled with.
kernel_set compiled() {
  using elf_symbol = ElfW(Sym);
  const auto* inside = reinterpret_cast<const char*>(&twill::version);
  const twill::simt::code_place place = twill::simt::place_of(inside);
  const twill::simt::elf_file file(place.file.c_str());
  std::size_t count = 0;
  const auto* sections = file.sections(count);
  kernel_set names;
  for (std::size_t s = 0; sections != nullptr && s < count; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const std::size_t symbols = sections[s].sh_size / sizeof(elf_symbol);
    const auto* symbol = file.at<elf_symbol>(sections[s].sh_offset, symbols);
    const auto& strings = sections[sections[s].sh_link];
    const auto* text = file.at<char>(strings.sh_offset, strings.sh_size);
    if (symbol == nullptr || text == nullptr) continue;
    for (const auto* end = symbol + symbols; symbol != end; ++symbol) {
      if (!is_kernel(text + symbol->st_name)) continue;
      names.insert(twill::simt::kernel_name(inside - place.offset + symbol->st_value));
    }
  }
  return names;
}

std::string listed(const kernel_set& names) {
  std::string text;
  for (const auto& name : names) text += name + "; ";
  return text;
}

kernel_set without(kernel_set all, const kernel_set& others) {
  for (const auto& name : others) all.erase(name);
  return all;
}

/// Kernels and copies of a transpose in place on an H200 with `times` the least scratch memory.
int launches_of(const twill::transpose_in_place_shape& shape, std::int64_t element_bytes, std::size_t times) {
  const auto [noting, device, stream] = noting_h200();
  const std::size_t scratch = times * twill::transpose_in_place_scratch_bytes(twill::device(), element_bytes, shape);
  chosen_for(*noting, stream, support::transpose_in_place_call(shape, element_bytes, 0, 0, scratch));
  return noting->launches();
}

/// The one kernel of `names`, without its namespace.
std::string only(const kernel_set& names) {
  REQUIRE(names.size() == 1);
  return names.begin()->substr(std::string("twill::simt::kernels::").size());
}

/// The kernel that transposes in place on an H200 with fast scratch memory, without its arguments.
std::string in_place_of(const twill::transpose_in_place_shape& shape, std::int64_t element_bytes) {
  const auto [noting, device, stream] = noting_h200();
  const std::size_t scratch =
      twill::transpose_in_place_scratch_bytes(device, element_bytes, shape, twill::scratch_size::fast);
  const auto call = support::transpose_in_place_call(shape, element_bytes, 0, 0, scratch);
  const std::string name = only(chosen_for(*noting, stream, call));
  return name.substr(0, name.find('<'));
}

/// The kernel, without its arguments, that a reduction of rows or of columns is for an H200.
std::string reduction_of(bool rows, twill::reduce_op op, twill::element_type type, const twill::reduce_shape& shape,
                         std::uintptr_t offset = 0) {
  const auto [noting, device, stream] = noting_h200();
  const twill::raw_buffer scratch = support::reduce_scratch_of(stream);
  noting->take_names();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses, never followed.
  const auto* in = reinterpret_cast<const void*>((std::uintptr_t{1} << 40) + offset);
  auto* out = reinterpret_cast<void*>(std::uintptr_t{2} << 40);  // NOLINT(performance-no-int-to-ptr)
  const auto reduce = rows ? twill::reduce_rows_untyped : twill::reduce_columns_untyped;
  const bool place = op == twill::reduce_op::argmin || op == twill::reduce_op::argmax;
  reduce(stream, in, out, type, place ? twill::element_type::i64 : type, shape, scratch, {op, true});
  return only(noting->take_names());
}

twill::device_properties properties_of(const std::string& name) {
  return twill::device::open(name).properties();
}

}  // namespace

TEST_SUITE_BEGIN("kernel choices");

TEST_CASE("every kernel that is compiled is chosen on an H200, and no other is launched") {
  const kernel_set all = compiled();
  REQUIRE(all.size() > 200);
  for (const int multiprocessors : {132, 2}) {
    CAPTURE(multiprocessors);
    const kernel_set chosen = chosen_on(with_multiprocessors(properties_of("simt:h200"), multiprocessors));
    const std::string missing = listed(without(all, chosen)), unknown = listed(without(chosen, all));
    CHECK_MESSAGE(missing.empty(), missing);
    CHECK_MESSAGE(unknown.empty(), unknown);
  }
}

TEST_CASE("with 64 KiB of shared memory, all but those for more are chosen") {
  for (const int multiprocessors : {110, 2}) {
    CAPTURE(multiprocessors);
    const auto device = with_multiprocessors(properties_of("simt:mi250x"), multiprocessors);
    const std::string missing = listed(without(compiled(), chosen_on(device)));
    CHECK(missing ==
          "twill::simt::kernels::in_place_square<1, 16, false>; twill::simt::kernels::in_place_square<1, 16, true>; "
          "twill::simt::kernels::in_place_square<2, 16, false>; twill::simt::kernels::in_place_square<2, 16, true>; "
          "twill::simt::kernels::transpose_staged_cols<unsigned char, 16, 256, 1>; ");
  }
}

TEST_CASE("reference: kernels for more than 64 KiB of shared memory") {
  const auto properties = with_multiprocessors(properties_of("simt:h200"), 2);
  const kernel_set others = chosen_on(with_multiprocessors(properties_of("simt:mi250x"), 2));
  const auto noting = std::make_shared<noting_device>(properties);
  const twill::device planned(noting);
  const twill::stream plans(planned);
  std::vector<support::drawn_call> large;
  for (const auto& call : support::directed_calls::of(properties)) {
    if (!without(chosen_for(*noting, plans, call), others).empty()) large.push_back(call);
  }
  CHECK(large.size() == 8);
  const twill::device device(simulated(properties, 2));
  const twill::stream stream(device);
  const std::string wrong = support::run_all(stream, large);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

// The generic device has no cache, and so no tiles whose loads carry an L2 prefetch size hint.
TEST_CASE("reference: kernels that only a device with a cache is given") {
  const auto properties = with_multiprocessors(properties_of("simt:h200"), 2);
  const kernel_set others = chosen_on(with_multiprocessors(properties_of("simt"), 2));
  const auto noting = std::make_shared<noting_device>(properties);
  const twill::device planned(noting);
  const twill::stream plans(planned);
  std::vector<support::drawn_call> calls;
  for (const auto& call : support::directed_calls::of(properties)) {
    if (!without(chosen_for(*noting, plans, call), others).empty()) calls.push_back(call);
  }
  CHECK(calls.size() > 4);
  const twill::device device(simulated(properties, 2));
  const twill::stream stream(device);
  const std::string wrong = support::run_all(stream, calls);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("reference: small matrices with gaps, eight windows a block") {
  const auto properties = with_multiprocessors(properties_of("simt:h200"), 2);
  const twill::device device(simulated(properties, 2));
  const twill::stream stream(device);
  for (const std::int64_t bytes : {1, 4}) {
    const twill::permute_shape shape{{5003, 3, 5}, {0, 2, 1}, {19, 6, 1}, {}};
    const auto call = support::permute_call(shape, bytes, static_cast<std::size_t>(bytes),
                                            3 * static_cast<std::size_t>(bytes), "staged-strided");
    const std::string wrong = support::run_tightly(stream, call);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("reference: lines too long for shared memory, through scratch memory of several sizes") {
  auto properties = with_multiprocessors(properties_of("simt:h200"), 64);
  properties.shared_bytes_per_block = 256;
  const twill::device device(simulated(properties, 1));
  const twill::stream stream(device);
  std::vector<support::drawn_call> calls;
  for (const twill::transpose_in_place_shape& s :
       {twill::transpose_in_place_shape{259, 266}, {266, 259}, {5, 2301, 2}, {2301, 5, 2, 0, 11507}}) {
    for (const std::int64_t bytes : {1, 12}) {
      const std::size_t least = twill::transpose_in_place_scratch_bytes(twill::device(), bytes, s);
      for (const std::size_t scratch : {least, 3 * least + 64}) {
        for (const std::size_t offset : {1, 16}) {
          if (s.batch == 1 && offset == 16) continue;  // columns are copied unit by unit wherever scratch is
          calls.push_back(support::transpose_in_place_call(s, bytes, 1, offset, scratch));
        }
      }
    }
  }
  const std::string wrong = support::run_all(stream, calls);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("launches of a transpose in place with the least scratch memory, and with more") {
  CHECK(launches_of({20000, 30000}, 4, 1) == 3);  // extents with a common divisor: one pass more
  CHECK(launches_of({20011, 30000}, 4, 1) == 2);
  CHECK(launches_of({60000, 70000}, 4, 1) == 3);
  CHECK(launches_of({20000, 30000}, 16, 1) == 3);
  CHECK(launches_of({10001, 80000}, 4, 1) == 2);
  CHECK(launches_of({3, 1 << 22}, 4, 1) == 7);
  CHECK(launches_of({201, 1000000}, 4, 1) == 1 + 2 * 201);
  CHECK(launches_of({201, 1000000}, 4, 10) == 1 + 2 * 21);
  CHECK(launches_of({300000, 300007}, 1, 1) == 2 * 300000 + 2 * 300007);
  CHECK(launches_of({300000, 300007}, 1, 1000) == 2 * 300 + 2 * 301);
}

TEST_CASE("launches of a transpose in place with fast scratch memory do not grow with the batch") {
  const auto [noting, device, stream] = noting_h200();
  const twill::transpose_in_place_shape gaps{300, 200, 20, 0, 300 * 200 + 5};
  const std::size_t scratch =
      twill::transpose_in_place_scratch_bytes(twill::device(), 4, gaps, twill::scratch_size::fast);
  chosen_for(*noting, stream, support::transpose_in_place_call(gaps, 4, 0, 0, scratch));
  CHECK(noting->launches() == 2);
}

TEST_CASE("batches are transposed in place by one block per matrix where there are enough") {
  const struct {
    twill::transpose_in_place_shape shape;
    std::int64_t element_bytes;
    const char* kernel;
  } cases[] = {{{419, 211, 33}, 2, "transpose_staged_misaligned"},
               {{257, 257, 33}, 1, "transpose_staged_misaligned"},
               {{257, 257, 32}, 1, "in_place_square_misaligned"},
               {{255, 255, 1}, 1, "transpose_staged_misaligned"},
               {{129, 129, 66}, 2, "transpose_staged_misaligned"},
               {{129, 129, 65}, 2, "in_place_square_misaligned"},
               {{127, 127, 1}, 2, "transpose_staged_misaligned"},
               {{160, 160, 132}, 1, "in_place_square"},
               {{139, 139, 132}, 4, "transpose_staged_misaligned"},
               {{139, 139, 131}, 4, "in_place_square_words"},
               {{140, 140, 132}, 4, "in_place_square"},
               {{93, 93, 33}, 12, "in_place_small"},
               {{93, 93, 32}, 12, "in_place_square_units"},
               {{105, 105, 33}, 3, "in_place_square_units"},
               {{70, 40, 8}, 8, "in_place_small"},
               {{70, 40, 8}, 4, "transpose_staged_misaligned"},
               {{3, 5, 20000, 0, 16}, 4, "in_place_small"}};
  for (const auto& each : cases) CHECK(in_place_of(each.shape, each.element_bytes) == each.kernel);
  CHECK(launches_of({229, 993, 132}, 1, 1000) > 1);  // fits without pads alone
  CHECK(launches_of({419, 211, 32}, 2, 1000) > 1);   // too few
}

TEST_CASE("blocks of tiny matrices with gaps take many of them") {
  const auto [noting, device, stream] = noting_h200();
  const std::int64_t many = 1000000;
  chosen_for(*noting, stream, support::transpose_call({2, 2, many, 0, 0, 5, 5}, 4, 0, 0));
  CHECK(noting->blocks() == 15625);
  chosen_for(*noting, stream, support::transpose_call({8, 8, many, 9}, 4, 0, 0));
  CHECK(noting->blocks() == 15625 + 7813);
  chosen_for(*noting, stream, support::transpose_in_place_call({4, 4, many, 8}, 4, 0, 0, 0));
  CHECK(noting->blocks() == 15625 + 7813 + 15625);
  CHECK_NOTHROW(chosen_for(*noting, stream, support::transpose_call({2, 2, many << 13, 0, 0, 5, 5}, 1, 0, 0)));
}

TEST_CASE("vectors are copied, and of a batch of one neither strides nor the ends of rows matter") {
  const auto [noting, device, stream] = noting_h200();
  const std::int64_t n = 100000;
  for (const twill::transpose_shape& s :
       {twill::transpose_shape{1, n}, {n, 1}, {1, n, 1, 3 * n, 1, 5, 7}, {n, 1, 1, 1, 3 * n, 5, 7}, {n, 1, 4}}) {
    const int before = noting->launches();
    CHECK(chosen_for(*noting, stream, support::transpose_call(s, 4, 4, 0)).empty());
    CHECK(noting->launches() == before + 1);
  }
  for (const twill::permute_shape& s : {twill::permute_shape{{1, n}, {1, 0}}, {{7, 1, n, 1}, {3, 0, 1, 2}}}) {
    CHECK(chosen_for(*noting, stream, support::permute_call(s, 4, 4, 0)).empty());
  }
  const auto chosen = [&](const twill::transpose_shape& s) {
    const std::uint64_t before = noting->blocks();
    const kernel_set names = chosen_for(*noting, stream, support::transpose_call(s, 4, 0, 0));
    return std::make_pair(names, noting->blocks() - before);
  };
  const auto plain = chosen({2100, 2111, 1, 0, 2112});
  CHECK(plain.first.size() == 1);
  CHECK(chosen({2100, 2111, 1, 0, 2112, 1, 0}) == plain);
  CHECK(chosen({2100, 2111, 1, 0, 2112, 0, 12345677}) == plain);
  CHECK(chosen({2100, 2111, 1, 2111, 2112, INT64_MAX / 16, 3}) == plain);
}

TEST_CASE("rows and columns of reductions choose kernels by their lengths, alignment and operation") {
  using type = twill::element_type;
  const auto rows = [](const twill::reduce_shape& shape, std::uintptr_t offset = 0) {
    const std::string name = reduction_of(true, twill::reduce_op::sum, type::f32, shape, offset);
    return name.substr(0, name.find('<'));
  };
  for (const std::int64_t cols : {0, 1, 4, 63, 64, 100, 1023, 1024}) CHECK(rows({1000, cols}) == "reduce_short_rows");
  for (const std::int64_t cols : {1025, 1028, 4096}) CHECK(rows({1000, cols}) == "reduce_medium_rows");
  for (const std::int64_t cols : {4097, 4100, 8192, 100000}) CHECK(rows({1000, cols}) == "reduce_tasks");
  CHECK(rows({1000, 64, 68}) == "reduce_short_rows");
  CHECK(rows({1000, 64}, 4) == "reduce_short_rows");
  CHECK(rows({1000, 2048}, 4) == "reduce_medium_rows");
  const auto columns = [](twill::reduce_op op, type element, std::int64_t cols) {
    std::string name = reduction_of(false, op, element, {1000, cols});
    for (const char* kind : {"column_sums", "column_min", "narrow_column_argmin", "column_argmin", "column_products",
                             "column_bits", "mapped", "floats"}) {
      if (name.find(kind) != std::string::npos) return std::string(kind);
    }
    return name;
  };
  for (const type element : {type::u8, type::i16, type::u32, type::i64}) {
    CHECK(columns(twill::reduce_op::sum, element, 64) == "column_sums");
    CHECK(columns(twill::reduce_op::max, element, 64) == "column_min");
    CHECK(columns(twill::reduce_op::product, element, 64) == "column_products");
    CHECK(columns(twill::reduce_op::bitwise_xor, element, 64) == "column_bits");
    CHECK(columns(twill::reduce_op::min, element, 65) == "column_min");
  }
  CHECK(columns(twill::reduce_op::sum, type::f32, 65) == "floats");
  for (const type element : {type::f32, type::i64}) {
    CHECK(columns(twill::reduce_op::argmin, element, 64) == "column_argmin");
    CHECK(columns(twill::reduce_op::argmin, element, 65) == "column_argmin");
  }
  CHECK(columns(twill::reduce_op::argmax, type::f16, 64) == "narrow_column_argmin");
}

TEST_SUITE_END();
