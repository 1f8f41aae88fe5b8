#include "pitched.hpp"

namespace twill::detail {

std::optional<std::vector<pitched_part>> pitched_parts(const permute_args& args, std::int64_t most) {
  const std::int64_t run = args.run_bytes;
  if (args.rank == 0) return std::vector<pitched_part>{{0, 0, 1, run, run, run}};
  int longest = 0;
  std::int64_t all = 1;
  for (int i = 0; i < args.rank; ++i) {
    if (args.dims[i].in_stride < run || args.dims[i].out_stride < run) return std::nullopt;
    if (args.dims[i].extent > args.dims[longest].extent) longest = i;
  }
  for (int i = 0; i < args.rank; ++i) {
    if (i == longest) continue;
    if (args.dims[i].extent > most / all) return std::nullopt;
    all *= args.dims[i].extent;
  }
  const permute_dim& rows = args.dims[longest];
  std::vector<pitched_part> parts{{0, 0, rows.extent, run, rows.in_stride, rows.out_stride}};
  for (int i = 0; i < args.rank; ++i) {
    if (i == longest) continue;
    std::vector<pitched_part> more;
    for (std::int64_t index = 0; index < args.dims[i].extent; ++index) {
      for (pitched_part one : parts) {
        one.in_offset += index * args.dims[i].in_stride;
        one.out_offset += index * args.dims[i].out_stride;
        more.push_back(one);
      }
    }
    parts = std::move(more);
  }
  return parts;
}

}  // namespace twill::detail
