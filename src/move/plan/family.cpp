#include "family.hpp"

#include "candidates.hpp"

namespace twill::detail {
namespace {

struct description {
  const char *name, *takes;
};

constexpr description descriptions[families] = {
    {"narrow", "2 to 8 packed columns, or rows that become packed columns, long rows aligned at 16 bytes"},
    {"tiled-2d", "matrices whose rows are full aligned vectors of 16 bytes on both sides"},
    {"tiled-4byte", "such matrices of 1, 2 and 4 byte elements, few bytes a multiprocessor"},
    {"misaligned-2d", "matrices of 1, 2, 4 and 8 byte elements with rows of any alignment"},
    {"staged", "batches of small packed matrices from and to multiples of 16 bytes"},
    {"staged-misaligned", "batches of packed matrices of up to a third of a block's shared memory"},
    {"staged-strided", "batches of small matrices with gaps"},
    {"staged-rows", "9 to 256 packed columns"},
    {"staged-cols", "rows that become packed columns, from 9 on and as many as fit in shared memory"},
    {"elementwise-batch", "batches of tiny matrices with gaps"},
    {"vec3", "matrices of elements of 3, 5 to 7, 9 to 15, 20 and 24 bytes"},
    {"tiled", "rows and columns of several dimensions in full aligned vectors of 16 bytes"},
    {"misaligned", "rows and columns of several dimensions, rows of 64 bytes and columns of 48 at least"},
    {"rows", "contiguous runs of 64 bytes and more"},
    {"gather", "anything with a composite tile that fits in shared memory"},
    {"elementwise", "anything"}};

}  // namespace

const char* name_of(family kind) {
  return descriptions[static_cast<int>(kind)].name;
}

const char* takes(family kind) {
  return descriptions[static_cast<int>(kind)].takes;
}

}  // namespace twill::detail
