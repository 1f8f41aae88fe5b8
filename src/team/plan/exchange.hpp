#pragma once

// What each member of a team moves to which other: the intersections of what it holds with what the others shall hold,
// each as a movement in the planner's normal form.

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// A movement without its memory: where it begins in the input and output, in bytes, and its normal form.
struct offset_move {
  std::int64_t in_offset, out_offset;
  permute_args form;  ///< `in` and `out` are null
};

permute_args with_memory(const offset_move& move, const void* in, void* out);

/// What one member gives another, never empty.
struct piece {
  int peer;
  index_box box;
  std::int64_t bytes;
};

/// Pieces that `sender` gives, in ring order: to itself, then to the next ranks.
std::vector<piece> pieces_from(const team_layout& layout, int sender);
/// Pieces that `receiver` is given, in ring order: from itself, then from the ranks before.
std::vector<piece> pieces_to(const team_layout& layout, int receiver);

/// `part` of a piece in pieces of at most `most_bytes` bytes (or one element), cut along the outermost local dimensions
/// of the output, so that each is packed in the order of the output. The same on sender and receiver.
std::vector<piece> split(const team_layout& layout, const piece& whole, std::int64_t most_bytes);

/// The same with long rows in the memory of both: cut along other dimensions than the fastest of the input and of the
/// output, and then along the longer of these.
std::vector<piece> tiles_of(const team_layout& layout, const piece& whole, std::int64_t most_bytes);

/// The parts that move one after the other, so that one is permuted while another is on the link: about `wanted` of
/// them, or as many as pay. The same on sender and receiver.
std::vector<piece> parts_of(const team_layout& layout, const piece& whole, int wanted);

/// Of a piece: from the sender's memory into the receiver's.
offset_move move_of(const team_layout& layout, int sender, const piece& to);
/// From the sender's memory into a message, packed in the order of the output.
offset_move pack_of(const team_layout& layout, int sender, const piece& to);
/// From such a message into the receiver's memory.
offset_move unpack_of(const team_layout& layout, int receiver, const piece& from);

}  // namespace twill::detail
