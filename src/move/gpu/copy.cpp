#include "backends/backend.hpp"
#include "families.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {

// Pitched rows. Packed rows are one contiguous run and go to `rows`, as do misaligned rows of less than 64 bytes: the
// planner takes it from 64 bytes on only.
void copy(const detail::work_queue& queue, const detail::pitched_rows& a) {
  constexpr std::int64_t piece_bytes = std::int64_t{1} << 26;  // a longer row is split into rows of this size
  if (a.rows == 1 && a.row_bytes > piece_bytes) {
    const std::int64_t pieces = (a.row_bytes - 1) / piece_bytes, done = pieces * piece_bytes;
    const auto* in = static_cast<const unsigned char*>(a.in);
    auto* out = static_cast<unsigned char*>(a.out);
    copy(queue, {in, out, pieces, piece_bytes, piece_bytes, piece_bytes});
    const std::int64_t rest = a.row_bytes - done;
    copy(queue, {in + done, out + done, 1, rest, rest, rest});
    return;
  }
  if (launch_strided_copy({queue}, a)) return;
  const detail::permute_args rows{a.in, a.out, a.row_bytes, 1, {{a.rows, a.in_pitch, a.out_pitch}}};
  const bool is_packed = a.in_pitch == a.row_bytes && a.out_pitch == a.row_bytes;
  const bool is_short = a.row_bytes < 64 && detail::unit_of(rows) < 4;
  if ((is_packed || is_short) && launch_rows({queue}, rows)) return;
  permute(queue, rows);
}

}  // namespace twill::TWILL_BACKEND
