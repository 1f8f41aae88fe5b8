#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

struct __half {  // as the vendors' headers have it, by name and size
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};
namespace {

template <class T>
struct look_alike_complex {
  using value_type = T;
  T parts[2];
  T real() const { return parts[0]; }
  T imag() const { return parts[1]; }
};
struct own_half {
  unsigned short bits;
};

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const twill::error& e) {
    return e.code() == twill::errc::invalid_argument ? e.what() : "another code";
  }
  return "nothing";
}

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

}  // namespace

template <>
struct twill::element_traits<own_half> : twill::element_as<twill::element_type::f16> {};

using type = twill::element_type;
static_assert(twill::element_type_of<long long> == type::i64, "");
static_assert(twill::element_type_of<unsigned long long> == type::u64, "");
static_assert(twill::element_type_of<long> == twill::element_type_of<std::int64_t>, "");
static_assert(twill::element_type_of<signed char> == type::i8, "");
static_assert(twill::element_type_of<bool> == type::u8, "");
static_assert(twill::element_type_of<__half> == type::f16, "");
static_assert(twill::element_type_of<__nv_bfloat16> == type::bf16, "");
static_assert(twill::element_type_of<own_half> == type::f16, "");
static_assert(twill::element_type_of<look_alike_complex<float>> == type::c64, "");
static_assert(twill::element_type_of<look_alike_complex<double>> == type::c128, "");
static_assert(twill::detail::reduces_to(type::u8, type::u64) && !twill::detail::reduces_to(type::u8, type::u32), "");

TEST_SUITE_BEGIN("error");

TEST_CASE("enumerators from outside are refused, not looked up") {
  CHECK(begins(error_of([] { (void)twill::name(type(99)); }), "name: the element type is 99"));
  CHECK(begins(error_of([] { (void)twill::element_bytes(type(-1)); }), "element_bytes: the element type is -1"));
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  twill::buffer<float> in(device, 4), out(device, 4);
  out.upload(std::vector<float>{5, 5, 5, 5}, stream);
  const twill::raw_buffer scratch(device, std::size_t{8} << 20);
  const auto reduced = [&](twill::reduce_op op, type in_type) {
    return error_of(
        [&] { twill::reduce_untyped(stream, in.data(), out.data(), in_type, type::f32, 4, scratch, {op}); });
  };
  CHECK(begins(reduced(twill::reduce_op(99), type::f32), "reduce: the operation is 99"));
  CHECK(begins(reduced(twill::reduce_op::sum, type(14)), "reduce: the type of in is 14"));
  CHECK(begins(error_of([&] {
                 twill::reduce_untyped(stream, in.data(), out.data(), type::f32, type(14), 4, scratch,
                                       {twill::reduce_op::sum});
               }),
               "reduce: the type of out is 14"));
  CHECK(begins(error_of([&] { twill::scan(stream, in.data(), out.data(), 4, scratch, {twill::scan_op(9)}); }),
               "scan: the operation is 9"));
  std::vector<float> found(4);
  out.download(found, stream);
  stream.wait();
  CHECK(found == std::vector<float>{5, 5, 5, 5});
}

TEST_CASE("messages begin with the operation") {
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  twill::buffer<float> memory(device, 64);
  const float* none = nullptr;
  float* out = memory.data();
  CHECK(error_of([&] { twill::transpose(stream, none, out, {2, 3}); }) ==
        "transpose: in is null (the shape is not empty) pass device memory");
  CHECK(error_of([&] { twill::upload(stream, none, out, 3); }) ==
        "upload: in is null (the shape is not empty) pass host memory");
  CHECK(begins(error_of([&] { twill::copy(stream, none, out, 3); }), "copy: in is null"));
  CHECK(begins(error_of([&] { twill::permute(stream, none, out, {{2, 3}, {1, 0}}); }), "permute: in is null"));
  CHECK(begins(error_of([&] { twill::permute(stream, out, out + 8, {{1L << 40, 1L << 40}, {1, 0}}); }),
               "permute: the extents: overflow of a 64-bit signed integer"));
  CHECK(begins(error_of([&] { twill::permute(stream, out, out + 8, {{2, 3}, {1, 0}, {0, 1}}); }),
               "permute: in_strides has a zero stride (every index has an element of its own)"));
  CHECK(begins(error_of([&] { twill::reverse(stream, none, out, 3); }), "reverse: in is null"));
  CHECK(begins(error_of([&] { twill::scan(stream, none, out, 3, {}); }), "scan: in is null"));
  CHECK(begins(error_of([&] { twill::scan(stream, out, out, -1, {}); }), "scan: count is negative (it is -1)"));
  const auto beyond = static_cast<std::size_t>(-4);
  CHECK(begins(error_of([&] { twill::copy_bytes(stream, out, out, beyond); }),
               "copy: bytes is too large (18446744073709551612 overflows a 64-bit signed integer)"));
  CHECK(begins(error_of([&] { twill::fill_bytes(stream, out, 0, beyond); }), "fill: bytes is too large"));
  CHECK(begins(error_of([&] { twill::transpose_in_place(stream, out, {2, 3}, {out + 3, 64}); }),
               "transpose_in_place: data and scratch overlap"));
  CHECK(begins(error_of([&] { twill::reduce_rows(stream, memory.data(), out, {2, 3}, {}); }),
               "reduce_rows: in and out overlap"));
  const auto sum_of = [&](type in, type to) {
    return error_of([&] { twill::reduce_untyped(stream, out, out + 8, in, to, 4, {}, {}); });
  };
  CHECK(begins(sum_of(type::i32, type::f32),
               "reduce: sum of i32 does not support output type f32 (its result is i32 or i64)"));
  CHECK(
      begins(sum_of(type::f32, type::i32), "reduce: sum of f32 does not support output type i32 (its result is f32)"));
}

TEST_CASE("empty objects: destroyed and assigned to, everything else throws") {
  const auto device = twill::device::open("cpu");
  twill::stream from(device), stream(std::move(from));
  CHECK(begins(error_of([&] { from.wait(); }), "stream::wait: the stream is empty"));
  twill::buffer<float> first(device, 6), second(std::move(first));
  CHECK(begins(error_of([&] { twill::transpose(from, second.data(), second.data(), {0, 0}); }),
               "transpose: the stream is empty"));
  CHECK(begins(error_of([&] {
                 twill::scan_segments(from, second.data(), second.data(), 0, static_cast<std::int64_t*>(nullptr), 0,
                                      {});
               }),
               "scan_segments: the stream is empty"));
  CHECK(first.size() == 0);
  CHECK(first.data() == nullptr);
  const std::vector<float> host(6);
  CHECK(error_of([&] { first.upload(host, stream); }) != "nothing");
  CHECK(begins(error_of([&] { first.upload(host.data(), 0, 0, stream); }), "upload: the buffer is empty"));
  twill::event start(device), moved(std::move(start));
  CHECK(begins(error_of([&] { start.record(stream); }), "event::record: the event is empty"));
  CHECK(begins(error_of([&] { start.wait(); }), "event::wait: the event is empty"));
  CHECK(begins(error_of([&] { (void)moved.elapsed(start); }), "event::elapsed: the start event is empty"));
  CHECK(begins(error_of([&] { stream.wait(start); }), "stream::wait: the event is empty"));
  twill::device none;
  CHECK(begins(error_of([&] { (void)none.properties(); }), "device::properties: the device is empty"));
  CHECK(begins(error_of([&] { twill::stream made(none); }), "stream: the device is empty"));
  from = std::move(stream);
  first = std::move(second);
  start = std::move(moved);
  CHECK_NOTHROW(first.upload(host, from));
  CHECK_NOTHROW(start.record(from));
  CHECK_NOTHROW(from.wait(start));
}

TEST_CASE("parts of buffers") {
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  twill::buffer<int> memory(device, 4);
  memory.upload(std::vector<int>{1, 2, 3, 4}, stream);
  const std::vector<int> host{7, 8};
  memory.upload(host.data(), 2, 1, stream);
  std::vector<int> found(3);
  memory.download(found.data(), 3, 1, stream);
  stream.wait();
  CHECK(found == std::vector<int>{7, 8, 4});
  CHECK(begins(error_of([&] { memory.upload(host.data(), 2, 3, stream); }), "upload: the part leaves the buffer"));
  CHECK(begins(error_of([&] { memory.download(found.data(), 1, 5, stream); }), "download: the part leaves"));
}

TEST_SUITE_END();
