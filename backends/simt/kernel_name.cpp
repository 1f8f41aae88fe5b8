#include "kernel_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace twill::simt {
namespace {

using file_header = ElfW(Ehdr);
using section_header = ElfW(Shdr);
using elf_symbol = ElfW(Sym);

// A file in memory, read-only; empty when it cannot be had.
class mapped_file {
 public:
  explicit mapped_file(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 0) {
      size_ = static_cast<std::size_t>(info.st_size);
      void* memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      memory_ = memory == MAP_FAILED ? nullptr : static_cast<const char*>(memory);
    }
    if (file >= 0) close(file);
  }
  ~mapped_file() {
    if (memory_ != nullptr) munmap(const_cast<char*>(memory_), size_);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  // `count` objects of type T at `offset`, or nullptr when the file does not hold them.
  template <class T>
  const T* at(std::size_t offset, std::size_t count) const {
    if (memory_ == nullptr || offset > size_ || (size_ - offset) / sizeof(T) < count) return nullptr;
    return reinterpret_cast<const T*>(memory_ + offset);
  }

 private:
  const char* memory_ = nullptr;
  std::size_t size_ = 0;
};

// The mangled name of the function at `offset` from where the file was loaded, from its full symbol table.
std::string symbol_at(const mapped_file& file, std::size_t offset) {
  const auto* header = file.at<file_header>(0, 1);
  if (header == nullptr) return {};
  const auto* sections = file.at<section_header>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return {};
  for (unsigned s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB || sections[s].sh_link >= header->e_shnum) continue;
    const auto& names = sections[sections[s].sh_link];
    const std::size_t count = sections[s].sh_size / sizeof(elf_symbol);
    const auto* symbols = file.at<elf_symbol>(sections[s].sh_offset, count);
    const auto* text = file.at<char>(names.sh_offset, names.sh_size);
    for (std::size_t i = 0; symbols != nullptr && text != nullptr && i < count; ++i) {
      const bool is_function = (symbols[i].st_info & 0xf) == STT_FUNC;
      if (is_function && symbols[i].st_value == offset && symbols[i].st_name < names.sh_size) {
        return text + symbols[i].st_name;
      }
    }
  }
  return {};
}

std::string mangled_name(const void* address) {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0) return {};
  if (info.dli_sname != nullptr && info.dli_saddr == address) return info.dli_sname;
  const auto* loaded = static_cast<const link_map*>(extra);
  const bool is_program = loaded->l_name[0] == '\0';
  return symbol_at(mapped_file(is_program ? "/proc/self/exe" : loaded->l_name),
                   static_cast<std::size_t>(reinterpret_cast<ElfW(Addr)>(address) - loaded->l_addr));
}

// "void name<int>(int*, int)" without what surrounds the name.
std::string bare(const std::string& signature) {
  std::size_t first = 0, last = signature.size();
  int depth = 0;  // of template arguments and of "(anonymous namespace)"
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const char c = signature[i];
    const bool parameters = c == '(' && depth == 0 && signature.compare(i, 21, "(anonymous namespace)") != 0;
    if (parameters) {
      last = i;
      break;
    }
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ' ' && depth == 0) first = i + 1;
  }
  return signature.substr(first, last - first);
}

}  // namespace

std::string kernel_name(const void* address) {
  const std::string mangled = mangled_name(address);
  if (mangled.empty()) {
    char text[32];
    std::snprintf(text, sizeof text, "at %p", address);
    return text;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                     &std::free);
  return plain == nullptr ? mangled : bare(plain.get());
}

}  // namespace twill::simt
