#include "normal_form.hpp"

#include <algorithm>

namespace twill::detail {
namespace {

// Traverses a dimension of `a` from its other end.
void flip(permute_args& a, permute_dim& d) {
  a.in = static_cast<const unsigned char*>(a.in) + (d.extent - 1) * d.in_stride;
  a.out = static_cast<unsigned char*>(a.out) + (d.extent - 1) * d.out_stride;
  d.in_stride = -d.in_stride;
  d.out_stride = -d.out_stride;
}

// Where another dimension is contiguous in the output, walks a reversed one that is contiguous in the input forward
// there: a rotated matrix has contiguous rows on both sides. Leaves one that extends a short run of the output, which
// flipping would cut.
void flip_to_input(permute_args& a) {
  constexpr std::int64_t long_run = 100;  // bytes: rows of misaligned tiles
  std::int64_t run = a.run_bytes;         // contiguous in the output
  for (int i = 0; i < a.rank && a.dims[0].out_stride == a.run_bytes; ++i) {
    permute_dim& d = a.dims[i];
    const bool continues = d.out_stride == run;
    if (i > 0 && d.in_stride == -a.run_bytes && (!continues || run >= long_run)) {
      return flip(a, d);
    }
    if (continues) run *= d.extent;
  }
}

}  // namespace

void normalise(permute_args& a) {
  permute_dim* const end = std::remove_if(a.dims, a.dims + a.rank, [](const permute_dim& d) { return d.extent == 1; });
  a.rank = static_cast<int>(end - a.dims);
  for (int i = 0; i < a.rank; ++i) {
    if (a.dims[i].out_stride < 0) flip(a, a.dims[i]);
  }
  std::sort(a.dims, end, [](const permute_dim& x, const permute_dim& y) { return x.out_stride < y.out_stride; });
  int kept = 0;
  for (int i = 0; i < a.rank; ++i) {
    const permute_dim d = a.dims[i];
    if (kept == 0 && d.in_stride == a.run_bytes && d.out_stride == a.run_bytes) {
      a.run_bytes *= d.extent;
      continue;
    }
    permute_dim* last = kept > 0 ? &a.dims[kept - 1] : nullptr;
    if (last != nullptr && d.in_stride == last->in_stride * last->extent &&
        d.out_stride == last->out_stride * last->extent) {
      last->extent *= d.extent;
    } else {
      a.dims[kept++] = d;
    }
  }
  a.rank = kept;
  flip_to_input(a);
}

permute_args normal_form_of(const transpose_args& a) {
  const std::int64_t size = a.element_bytes;
  permute_args form{a.in, a.out, size, 0, {}};
  // Unused strides may overflow.
  if (a.rows > 1) form.dims[form.rank++] = {a.rows, a.in_ld * size, size};
  if (a.cols > 1) form.dims[form.rank++] = {a.cols, size, a.out_ld * size};
  if (a.batch > 1) form.dims[form.rank++] = {a.batch, a.in_stride * size, a.out_stride * size};
  normalise(form);
  return form;
}

std::optional<transpose_args> as_transpose(const permute_args& a) {
  constexpr std::int64_t most_bytes = 64;
  const std::int64_t size = a.run_bytes;
  if ((a.rank != 2 && a.rank != 3) || size > most_bytes) return std::nullopt;
  const permute_dim& rows = a.dims[0];
  const auto* cols = std::find_if(a.dims + 1, a.dims + a.rank, [&](const auto& d) { return d.in_stride == size; });
  if (rows.out_stride != size || cols == a.dims + a.rank) return std::nullopt;
  // The strides of one matrix alone are its size: a smaller one could spoil an alignment.
  const std::int64_t matrix = rows.extent * cols->extent * size;
  const permute_dim batch = a.rank == 2 ? permute_dim{1, matrix, matrix} : a.dims[cols == a.dims + 1 ? 2 : 1];
  for (int i = 0; i < a.rank; ++i) {
    const permute_dim& d = a.dims[i];
    if (d.in_stride < 0 || d.in_stride % size != 0 || d.out_stride % size != 0) return std::nullopt;
  }
  const std::int64_t in_ld = rows.in_stride / size, out_ld = cols->out_stride / size;
  if (in_ld < cols->extent || out_ld < rows.extent || batch.out_stride < 0) return std::nullopt;
  const std::int64_t in_stride = batch.in_stride / size, out_stride = batch.out_stride / size;
  return transpose_args{a.in,         a.out, size,   rows.extent, cols->extent,
                        batch.extent, in_ld, out_ld, in_stride,   out_stride};
}

}  // namespace twill::detail
