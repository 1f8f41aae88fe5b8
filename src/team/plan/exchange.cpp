#include "exchange.hpp"

#include <algorithm>

#include "move/plan/normal_form.hpp"

namespace twill::detail {
namespace {

// The memory that a side of a movement lies in: strides in elements by global dimension, and the indices that lie at
// its beginning.
struct memory_side {
  std::int64_t first[most_dims], strides[most_dims];
};

memory_side local_memory(const team_layout& layout, const team_side& side, int member) {
  memory_side memory{};
  const index_box all = box_of(layout, side, member);
  std::copy_n(all.first, most_dims, memory.first);
  strides_of(layout, side, all, memory.strides);
  return memory;
}

// Only the box, in the order of the output, without gaps.
memory_side message(const team_layout& layout, const index_box& box) {
  memory_side memory{};
  std::copy_n(box.first, most_dims, memory.first);
  team_side packed = layout.out;
  std::fill_n(packed.lds, most_dims, 0);
  strides_of(layout, packed, box, memory.strides);
  return memory;
}

offset_move between(const team_layout& layout, const index_box& box, const memory_side& in, const memory_side& out) {
  offset_move move{0, 0, {nullptr, nullptr, layout.element_bytes, 0, {}}};
  for (int d = 0; d < layout.rank; ++d) {
    const std::int64_t in_stride = in.strides[d] * layout.element_bytes;
    const std::int64_t out_stride = out.strides[d] * layout.element_bytes;
    move.in_offset += (box.first[d] - in.first[d]) * in_stride;
    move.out_offset += (box.first[d] - out.first[d]) * out_stride;
    move.form.dims[move.form.rank++] = {box.extent[d], in_stride, out_stride};
  }
  normalise(move.form);
  return move;
}

void add_piece(std::vector<piece>& all, const team_layout& layout, int peer, const index_box& a, const index_box& b) {
  const index_box both = intersection(a, b, layout.rank);
  const std::int64_t elements = elements_of(both, layout.rank);
  if (elements > 0) all.push_back({peer, both, elements * layout.element_bytes});
}

}  // namespace

permute_args with_memory(const offset_move& move, const void* in, void* out) {
  permute_args args = move.form;
  args.in = static_cast<const unsigned char*>(in) + move.in_offset;
  args.out = static_cast<unsigned char*>(out) + move.out_offset;
  return args;
}

std::vector<piece> pieces_from(const team_layout& layout, int sender) {
  std::vector<piece> all;
  const index_box mine = box_of(layout, layout.in, sender);
  for (int step = 0; step < layout.size; ++step) {
    const int peer = (sender + step) % layout.size;
    add_piece(all, layout, peer, mine, box_of(layout, layout.out, peer));
  }
  return all;
}

std::vector<piece> pieces_to(const team_layout& layout, int receiver) {
  std::vector<piece> all;
  const index_box mine = box_of(layout, layout.out, receiver);
  for (int step = 0; step < layout.size; ++step) {
    const int peer = (receiver - step + layout.size) % layout.size;
    add_piece(all, layout, peer, box_of(layout, layout.in, peer), mine);
  }
  return all;
}

namespace {

// Halves along the dimension that cut(box) names, until there are at most `most_bytes` bytes or it names none (-1).
template <class Cut>
std::vector<piece> halves(const team_layout& layout, const piece& whole, std::int64_t most_bytes, Cut&& cut) {
  std::vector<piece> done, left{whole};
  while (!left.empty()) {
    piece first = left.back();
    left.pop_back();
    const int d = first.bytes <= most_bytes ? -1 : cut(first.box);
    if (d < 0) {
      done.push_back(first);
      continue;
    }
    piece second = first;
    const std::int64_t half = first.box.extent[d] - first.box.extent[d] / 2;
    first.box.extent[d] = half;
    second.box.first[d] += half;
    second.box.extent[d] -= half;
    for (piece* each : {&second, &first}) {  // the first one is the next to be cut
      each->bytes = elements_of(each->box, layout.rank) * layout.element_bytes;
      left.push_back(*each);
    }
  }
  return done;
}

}  // namespace

std::vector<piece> split(const team_layout& layout, const piece& whole, std::int64_t most_bytes) {
  return halves(layout, whole, most_bytes, [&](const index_box& box) {
    const int* const end = layout.out.order + layout.rank;
    const int* const d = std::find_if(layout.out.order, end, [&](int dim) { return box.extent[dim] > 1; });
    return d == end ? -1 : *d;
  });
}

std::vector<piece> tiles_of(const team_layout& layout, const piece& whole, std::int64_t most_bytes) {
  const int a = layout.in.order[layout.rank - 1], b = layout.out.order[layout.rank - 1];
  return halves(layout, whole, most_bytes, [&](const index_box& box) {
    for (int i = 0; i < layout.rank; ++i) {
      const int d = layout.out.order[i];
      if (d != a && d != b && box.extent[d] > 1) return d;
    }
    const int longer = box.extent[a] > box.extent[b] ? a : b;
    return box.extent[longer] > 1 ? longer : -1;
  });
}

std::vector<piece> parts_of(const team_layout& layout, const piece& whole, int wanted) {
  constexpr std::int64_t least_bytes = std::int64_t{8} << 20;  // a copy costs 10 us to begin
  constexpr int most_parts = 1024;                             // of a size that pays there are never as many
  const std::int64_t count =
      wanted > 0 ? std::min(wanted, most_parts) : std::clamp<std::int64_t>(whole.bytes / least_bytes, 1, 4);
  return split(layout, whole, (whole.bytes + count - 1) / count);
}

offset_move move_of(const team_layout& layout, int sender, const piece& to) {
  return between(layout, to.box, local_memory(layout, layout.in, sender), local_memory(layout, layout.out, to.peer));
}

offset_move pack_of(const team_layout& layout, int sender, const piece& to) {
  return between(layout, to.box, local_memory(layout, layout.in, sender), message(layout, to.box));
}

offset_move unpack_of(const team_layout& layout, int receiver, const piece& from) {
  return between(layout, from.box, message(layout, from.box), local_memory(layout, layout.out, receiver));
}

}  // namespace twill::detail
