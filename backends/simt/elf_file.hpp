#pragma once

// An executable or shared library of this process, as its file has it: what the loader does not keep.

#include <link.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace twill::simt {

using section_header = ElfW(Shdr);

/// A file in memory, read-only; empty when it cannot be had.
class elf_file {
 public:
  explicit elf_file(const char* path);
  ~elf_file();
  elf_file(const elf_file&) = delete;
  elf_file& operator=(const elf_file&) = delete;

  /// `count` objects of type T at `offset`, or nullptr when the file does not hold them.
  template <class T>
  const T* at(std::size_t offset, std::size_t count) const {
    if (memory_ == nullptr || offset > size_ || (size_ - offset) / sizeof(T) < count) return nullptr;
    return reinterpret_cast<const T*>(memory_ + offset);
  }

  /// All section headers; `count` of them.
  const section_header* sections(std::size_t& count) const;

  /// The bytes of the section of that name; empty when there is none, or when it is compressed.
  std::string_view section(std::string_view name) const;

 private:
  const char* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// The file that `code` was loaded from, and where in its own addresses it lies there.
struct code_place {
  std::string file;  ///< empty when it is none that was loaded
  std::size_t offset = 0;
};
code_place place_of(const void* code);

}  // namespace twill::simt
