#include "elf_file.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace twill::simt {

elf_file::elf_file(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 0) {
    size_ = static_cast<std::size_t>(info.st_size);
    void* memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    memory_ = memory == MAP_FAILED ? nullptr : static_cast<const char*>(memory);
  }
  if (file >= 0) close(file);
}

elf_file::~elf_file() {
  if (memory_ != nullptr) munmap(const_cast<char*>(memory_), size_);
}

const section_header* elf_file::sections(std::size_t& count) const {
  const auto* header = at<ElfW(Ehdr)>(0, 1);
  count = header == nullptr ? 0 : header->e_shnum;
  return header == nullptr ? nullptr : at<section_header>(header->e_shoff, count);
}

std::string_view elf_file::section(std::string_view name) const {
  std::size_t count = 0;
  const auto* all = sections(count);
  const std::size_t names_at = all == nullptr ? 0 : at<ElfW(Ehdr)>(0, 1)->e_shstrndx;
  if (all == nullptr || names_at >= count) return {};
  const auto& names = all[names_at];
  for (std::size_t s = 0; s < count; ++s) {
    const auto* text = at<char>(names.sh_offset + all[s].sh_name, name.size() + 1);
    if (text == nullptr || std::memcmp(text, name.data(), name.size()) != 0 || text[name.size()] != '\0') continue;
    if ((all[s].sh_flags & SHF_COMPRESSED) != 0) return {};
    const auto* bytes = at<char>(all[s].sh_offset, all[s].sh_size);
    return bytes == nullptr ? std::string_view() : std::string_view(bytes, all[s].sh_size);
  }
  return {};
}

code_place place_of(const void* code) {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(code, &info, &extra, RTLD_DL_LINKMAP) == 0) return {};
  const auto* loaded = static_cast<const link_map*>(extra);
  const bool is_program = loaded->l_name[0] == '\0';
  return {is_program ? "/proc/self/exe" : loaded->l_name, reinterpret_cast<std::uintptr_t>(code) - loaded->l_addr};
}

}  // namespace twill::simt
