// The calls of permutations and transposes: arguments checked, made normal, and moved by the simplest operation that
// the normal form is.

#include <twill/permute.hpp>
#include <twill/transpose.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/permute_call.hpp"
#include "move/plan/normal_form.hpp"

namespace twill {
namespace {

using detail::checked_product;
using detail::permute_args;
using detail::permute_dim;
using detail::transpose_args;
using std::to_string;

void require_size(const dims& list, int rank, const char* what) {
  if (list.size() == rank) return;
  detail::fail(errc::invalid_argument, std::string(what) + " must have one entry per dimension",
               to_string(list.size()) + " for " + to_string(rank) + " extents", "give as many as there are extents");
}

void require_order(const dims& order) {
  bool seen[dims::capacity] = {};
  for (const std::int64_t d : order) {
    if (d < 0 || d >= order.size() || seen[d]) {
      detail::fail(errc::invalid_argument, "order is not a permutation of the dimensions",
                   to_string(d) + " is out of range or repeated",
                   "give each of 0 to " + to_string(order.size() - 1) + " once");
    }
    seen[d] = true;
  }
}

// The distance in bytes that an index along a dimension adds; its product with the extent fits 63 bits.
std::int64_t stride_bytes(std::int64_t stride, std::int64_t extent, std::int64_t element_bytes, const char* what) {
  if (stride == 0) {
    detail::fail(errc::invalid_argument, std::string(what) + " has a zero stride",
                 "every index has an element of its own", "give another stride");
  }
  if (stride == std::numeric_limits<std::int64_t>::min()) {
    detail::fail(errc::invalid_argument, std::string(what) + " has a stride that is too large", "it is -2^63",
                 "give a smaller one");
  }
  const std::int64_t length = checked_product(stride < 0 ? -stride : stride, element_bytes, what);
  checked_product(length, extent, what);
  return stride < 0 ? -length : length;
}

// Strides of a packed array whose dimension i has extent[i], outermost first.
dims packed(const dims& extents) {
  std::int64_t strides[dims::capacity] = {}, next = 1;
  for (int i = extents.size() - 1; i >= 0; --i) {
    strides[i] = next;
    next = checked_product(next, extents[i], "the extents");
  }
  return {strides, static_cast<std::size_t>(extents.size())};
}

// What lies before the element of index 0 and after its first byte: the ends of the memory that an array takes.
struct reach {
  std::int64_t before = 0, after = 0;

  void add(std::int64_t stride, std::int64_t extent, const char* what) {
    const std::int64_t distance = stride * (extent - 1);  // fits: stride_bytes
    std::int64_t& end = distance < 0 ? before : after;
    const std::int64_t more = distance < 0 ? -distance : distance;
    if (end > std::numeric_limits<std::int64_t>::max() / 2 - more) {
      detail::fail(errc::invalid_argument, std::string(what) + " is too large", "the array does not fit 62 bits",
                   "give smaller extents or strides");
    }
    end += more;
  }
};

// Output elements that overlap, where that is cheap to see: two dimensions with a common multiple inside both, or more
// elements than places.
void require_distinct(const permute_args& a, std::int64_t elements, const reach& out) {
  const char* const advice = "give output strides without overlaps";
  const auto length = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
  for (int i = 0; i < a.rank; ++i) {
    for (int k = 0; k < i; ++k) {
      const std::int64_t x = length(a.dims[i].out_stride), y = length(a.dims[k].out_stride), common = std::gcd(x, y);
      detail::require(y / common >= a.dims[i].extent || x / common >= a.dims[k].extent, "elements of out overlap",
                      "two of its strides have a common multiple inside their extents", advice);
    }
  }
  const std::int64_t places = (out.before + out.after) / a.run_bytes + 1;
  if (elements > places) {
    detail::fail(errc::invalid_argument, "elements of out overlap",
                 to_string(elements) + " elements in a span of " + to_string(places), advice);
  }
}

void require_valid(std::int64_t element_bytes, const permute_shape& s) {
  detail::require_element_bytes(element_bytes, detail::largest_element_bytes);
  const int rank = s.extents.size();
  detail::require(rank >= 1, "no extents", "the array has no dimension", "give 1 to 8 of them");
  for (const std::int64_t extent : s.extents) detail::require_extent(extent, "an extent");
  require_size(s.order, rank, "order");
  require_order(s.order);
  if (s.in_strides.size() != 0) require_size(s.in_strides, rank, "in_strides");
  if (s.out_strides.size() != 0) require_size(s.out_strides, rank, "out_strides");
}

// All checks; returns the arguments with every stride explicit, dimensions in the output's order.
permute_args checked_args(const void* in, void* out, std::int64_t element_bytes, const permute_shape& s) {
  const int rank = s.extents.size();
  std::int64_t turned[dims::capacity] = {}, elements = 1;
  for (int i = 0; i < rank; ++i) {
    turned[i] = s.extents[static_cast<int>(s.order[i])];
    elements = checked_product(elements, turned[i], "the extents");
  }
  checked_product(elements, element_bytes, "the size in bytes");
  const dims out_extents(turned, static_cast<std::size_t>(rank));
  const dims in_strides = s.in_strides.size() != 0 ? s.in_strides : packed(s.extents);
  const dims out_strides = s.out_strides.size() != 0 ? s.out_strides : packed(out_extents);
  permute_args a{in, out, element_bytes, 0, {}};
  reach in_reach, out_reach;
  for (int i = 0; i < rank; ++i) {
    if (turned[i] == 1) continue;
    const std::int64_t in_stride = in_strides[static_cast<int>(s.order[i])];
    const permute_dim d{turned[i], stride_bytes(in_stride, turned[i], element_bytes, "in_strides"),
                        stride_bytes(out_strides[i], turned[i], element_bytes, "out_strides")};
    in_reach.add(d.in_stride, d.extent, "in");
    out_reach.add(d.out_stride, d.extent, "out");
    a.dims[a.rank++] = d;
  }
  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  require_distinct(a, elements, out_reach);
  detail::require_disjoint(
      {"in", static_cast<const unsigned char*>(in) - in_reach.before, in_reach.before + in_reach.after + element_bytes},
      {"out", static_cast<unsigned char*>(out) - out_reach.before, out_reach.before + out_reach.after + element_bytes});
  return a;
}

// Bytes from the first element to the end of the last of a batch of strided matrices.
std::int64_t span_bytes(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t batch, std::int64_t stride,
                        std::int64_t element_bytes) {
  if (rows > 1) checked_product(checked_product(rows, ld, "a matrix"), element_bytes, "a matrix in bytes");
  if (batch > 1) checked_product(checked_product(batch, stride, "the batch"), element_bytes, "the batch in bytes");
  const std::int64_t matrix = detail::checked_span(rows, ld, cols, "a matrix");
  return checked_product(detail::checked_span(batch, stride, matrix, "the batch"), element_bytes, "the size in bytes");
}

bool is_empty(const transpose_args& a) {
  return a.rows == 0 || a.cols == 0 || a.batch == 0;
}

// Everything checked and explicit; an extent of 0 where there is nothing to do.
transpose_args checked_args(const void* in, void* out, std::int64_t element_bytes, const transpose_shape& shape) {
  detail::require_extent(shape.rows, "rows");
  detail::require_extent(shape.cols, "cols");
  detail::require_extent(shape.batch, "batch");
  detail::require_element_bytes(element_bytes, detail::largest_element_bytes);
  transpose_args a{in, out, element_bytes, shape.rows, shape.cols, shape.batch, 0, 0, 0, 0};
  a.in_ld = detail::explicit_ld(shape.in_ld, shape.cols, "in_ld");
  a.out_ld = detail::explicit_ld(shape.out_ld, shape.rows, "out_ld");
  detail::require_extent(shape.in_stride, "in_stride");
  detail::require_extent(shape.out_stride, "out_stride");
  if (is_empty(a)) return a;
  if (a.batch > 1) a.in_stride = shape.in_stride;
  if (a.batch > 1) a.out_stride = shape.out_stride;
  if (a.in_stride == 0) a.in_stride = checked_product(a.rows, a.in_ld, "rows * in_ld");
  if (a.out_stride == 0) a.out_stride = checked_product(a.cols, a.out_ld, "cols * out_ld");
  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  const auto in_bytes = span_bytes(a.rows, a.cols, a.in_ld, a.batch, a.in_stride, element_bytes);
  const auto out_bytes = span_bytes(a.cols, a.rows, a.out_ld, a.batch, a.out_stride, element_bytes);
  detail::require_disjoint({"in", in, in_bytes}, {"out", out, out_bytes});
  detail::require(detail::matrices_disjoint(a.cols, a.rows, a.out_ld, a.batch, a.out_stride), "out_stride is too small",
                  "the output's matrices must not overlap", "enlarge it");
  return a;
}

int checked_rank(std::size_t count) {
  if (count > static_cast<std::size_t>(dims::capacity)) {
    detail::fail(errc::invalid_argument, "dims: too many dimensions", to_string(count) + ", at most 8 are possible",
                 "fuse some that are contiguous");
  }
  return static_cast<int>(count);
}

}  // namespace

dims::dims(const std::int64_t* values, std::size_t count) : size_(checked_rank(count)) {
  if (count == 0) return;
  detail::require(values != nullptr, "dims: values is null", "count is not 0", "pass host memory");
  std::copy(values, values + count, values_);
}

dims::dims(std::initializer_list<extent> values) : size_(checked_rank(values.size())) {
  std::copy(values.begin(), values.end(), values_);
}

std::int64_t detail::checked_span(std::int64_t count, std::int64_t stride, std::int64_t length, std::string_view what,
                                  std::string_view unit) {
  const std::int64_t to_last = checked_product(count - 1, stride, what);
  if (to_last > std::numeric_limits<std::int64_t>::max() - length) {
    fail(errc::invalid_argument, std::string(what) + " is too large",
         "its " + std::string(unit) + " overflow a 64-bit signed integer", "split it");
  }
  return to_last + length;
}

std::int64_t detail::checked_array_bytes(std::int64_t element_bytes, std::int64_t count) {
  require_extent(count, "count");
  require_element_bytes(element_bytes, largest_element_bytes);
  return checked_product(count, element_bytes, "the size in bytes");
}

bool detail::matrices_disjoint(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t batch,
                               std::int64_t stride) {
  return batch == 1 || stride >= (rows - 1) * ld + cols || (stride >= cols && stride <= (ld - cols) / (batch - 1));
}

std::optional<permute_args> detail::checked_permutation(const void* in, void* out, std::int64_t element_bytes,
                                                        const permute_shape& shape) {
  require_valid(element_bytes, shape);
  if (std::find(shape.extents.begin(), shape.extents.end(), 0) != shape.extents.end()) return std::nullopt;
  permute_args a = checked_args(in, out, element_bytes, shape);
  normalise(a);
  return a;
}

void detail::run_permutation(stream_ref stream, const permute_args& a) {
  const permute_dim& d = a.dims[0];
  if (a.rank == 0) {
    copy_rows(stream, {a.in, a.out, 1, a.run_bytes, a.run_bytes, a.run_bytes}, copy_direction::device_to_device);
  } else if (a.rank == 1 && d.in_stride >= a.run_bytes) {
    copy_rows(stream, {a.in, a.out, d.extent, a.run_bytes, d.in_stride, d.out_stride},
              copy_direction::device_to_device);
  } else if (a.rank == 1 && d.in_stride == -a.run_bytes && d.out_stride == a.run_bytes &&
             a.run_bytes <= largest_element_bytes) {
    const auto* first = static_cast<const unsigned char*>(a.in) + (d.extent - 1) * d.in_stride;
    operations_of(stream).move.reverse(queue_of(stream), {first, a.out, d.extent, a.run_bytes});
  } else {
    operations_of(stream).move.permute(queue_of(stream), a);
  }
}

void permute_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const permute_shape& shape) {
  detail::in_call("permute", [&] {
    detail::device_of(stream);
    const auto checked = detail::checked_permutation(in, out, element_bytes, shape);
    if (checked) detail::run_permutation(stream, *checked);
  });
}

void transpose_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const transpose_shape& shape) {
  detail::in_call("transpose", [&] {
    detail::device_of(stream);
    const transpose_args args = checked_args(in, out, element_bytes, shape);
    if (!is_empty(args)) detail::run_permutation(stream, detail::normal_form_of(args));
  });
}

}  // namespace twill
