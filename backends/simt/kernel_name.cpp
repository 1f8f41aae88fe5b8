#include "kernel_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "elf_file.hpp"

namespace twill::simt {
namespace {

using elf_symbol = ElfW(Sym);

// The mangled name of the function at `offset` from where the file was loaded, from its full symbol table.
std::string symbol_at(const elf_file& file, std::size_t offset) {
  std::size_t section_count = 0;
  const auto* sections = file.sections(section_count);
  for (std::size_t s = 0; sections != nullptr && s < section_count; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB || sections[s].sh_link >= section_count) continue;
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
  if (dladdr(address, &info) != 0 && info.dli_sname != nullptr && info.dli_saddr == address) return info.dli_sname;
  const code_place place = place_of(address);
  return place.file.empty() ? std::string() : symbol_at(elf_file(place.file.c_str()), place.offset);
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
