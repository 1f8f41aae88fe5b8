// Reads DWARF line number tables. Source: DWARF Debugging Information Format, version 5 (2017), section 6.2, and
// version 4 (2010), same section.

#include "line_program.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "source_line.hpp"

namespace twill::simt {
namespace {

struct unreadable {};

class reader {
 public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw unreadable{};
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T number() {
    T value;
    take(sizeof value).copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
  std::uint64_t number_of(std::size_t bytes) {
    std::uint64_t value = 0;
    if (bytes > sizeof value) throw unreadable{};
    take(bytes).copy(reinterpret_cast<char*>(&value), bytes);
    return value;
  }
  std::uint64_t variable() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t signed_variable() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  std::string text() {
    const auto end = rest_.find('\0');
    if (end == std::string_view::npos) throw unreadable{};
    const std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return found;
  }

 private:
  std::string_view rest_;
};

std::string text_at(std::string_view section, std::uint64_t offset) {
  if (offset >= section.size()) throw unreadable{};
  return reader(section.substr(offset)).text();
}

struct unit {
  unsigned version = 0, offset_bytes = 4;
  unsigned least_step = 1, steps_per_instruction = 1;
  int line_base = 0;
  unsigned line_range = 1, opcode_base = 1;
  std::vector<std::uint8_t> operands;  // of standard opcodes, by opcode
  std::vector<std::uint32_t> files;    // numbers of the table, by the unit's own
};

// One entry of a version 5 list of folders or files.
struct named_place {
  std::string name;
  std::uint64_t folder = 0;
};

std::string path_of(const std::string& folder, const std::string& name) {
  return folder.empty() || (!name.empty() && name[0] == '/') ? name : folder + "/" + name;
}

std::vector<named_place> read_places(reader& in, const line_sections& sections, unsigned offset_bytes) {
  enum : std::uint64_t { content_path = 1, content_folder = 2 };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> format(in.number<std::uint8_t>());
  for (auto& [content, form] : format) {
    content = in.variable();
    form = in.variable();
  }
  std::vector<named_place> places;
  for (std::uint64_t left = in.variable(); left > 0; --left) {
    named_place one;
    for (const auto& [content, form] : format) {
      std::uint64_t number = 0;
      std::string text;
      switch (form) {
        case 0x08:
          text = in.text();
          break;
        case 0x0e:
          text = text_at(sections.texts, in.number_of(offset_bytes));
          break;
        case 0x1f:
          text = text_at(sections.line_texts, in.number_of(offset_bytes));
          break;
        case 0x0b:
          number = in.number_of(1);
          break;
        case 0x05:
          number = in.number_of(2);
          break;
        case 0x06:
          number = in.number_of(4);
          break;
        case 0x07:
          number = in.number_of(8);
          break;
        case 0x0f:
          number = in.variable();
          break;
        case 0x1e:
          in.take(16);
          break;
        case 0x09:
          in.take(in.variable());
          break;
        default:
          throw unreadable{};
      }
      if (content == content_path) one.name = std::move(text);
      if (content == content_folder) one.folder = number;
    }
    places.push_back(std::move(one));
  }
  return places;
}

void read_files(reader& in, const line_sections& sections, unit& u, line_table& to) {
  if (u.version >= 5) {
    const auto folders = read_places(in, sections, u.offset_bytes);
    for (const auto& file : read_places(in, sections, u.offset_bytes)) {
      std::string folder = file.folder < folders.size() ? folders[file.folder].name : std::string();
      // Below the folder of the compilation, unless -ffile-prefix-map made that one relative too, to the same root.
      const bool below = !folders.empty() && !folders[0].name.empty() && folders[0].name[0] == '/';
      if (below) folder = path_of(folders[0].name, folder);
      u.files.push_back(to.add_file(path_of(folder, file.name)));
    }
    return;
  }
  std::vector<std::string> folders{""};
  for (std::string name = in.text(); !name.empty(); name = in.text()) folders.push_back(name);
  u.files.push_back(line_table::none);
  for (std::string name = in.text(); !name.empty(); name = in.text()) {
    const auto folder = in.variable();
    in.variable();
    in.variable();
    u.files.push_back(to.add_file(path_of(folder < folders.size() ? folders[folder] : "", name)));
  }
}

unit read_header(reader& header, unsigned version, unsigned offset_bytes, const line_sections& sections,
                 line_table& to) {
  unit u;
  u.version = version;
  u.offset_bytes = offset_bytes;
  u.least_step = header.number<std::uint8_t>();
  if (version >= 4) u.steps_per_instruction = header.number<std::uint8_t>();
  header.take(1);  // whether rows begin statements
  const int base = header.number<std::uint8_t>();
  u.line_base = base < 128 ? base : base - 256;
  u.line_range = header.number<std::uint8_t>();
  u.opcode_base = header.number<std::uint8_t>();
  if (u.line_range == 0 || u.opcode_base == 0 || u.steps_per_instruction != 1) throw unreadable{};
  u.operands.assign(1, 0);
  for (unsigned i = 1; i < u.opcode_base; ++i) u.operands.push_back(header.number<std::uint8_t>());
  read_files(header, sections, u, to);
  return u;
}

// The machine that a line number program runs on.
struct machine {
  const unit& u;
  line_table& to;
  std::size_t offset = 0;
  std::uint64_t file = 1;
  std::uint64_t line = 1;
  std::vector<line_table::row> sequence;

  void row(bool is_end) {
    const auto known = !is_end && file < u.files.size() ? u.files[file] : line_table::none;
    sequence.push_back({offset, known, static_cast<std::uint32_t>(line)});
    if (!is_end) return;
    // Functions that the linker left out begin at 0.
    if (sequence.front().offset != 0) {
      for (const auto& one : sequence) to.add(one);
    }
    sequence.clear();
    offset = 0;
    file = line = 1;
  }

  void extended(reader& in) {
    enum { end_sequence = 1, set_address = 2 };
    reader operation(in.take(in.variable()));
    const auto code = operation.number<std::uint8_t>();
    if (code == end_sequence) row(true);
    if (code == set_address) offset = operation.number<std::size_t>();
  }

  void standard(unsigned code, reader& in) {
    switch (code) {
      case 1:
        row(false);
        break;
      case 2:
        offset += in.variable() * u.least_step;
        break;
      case 3:
        line += static_cast<std::uint64_t>(in.signed_variable());
        break;
      case 4:
        file = in.variable();
        break;
      case 8:
        offset += (255 - u.opcode_base) / u.line_range * u.least_step;
        break;
      case 9:
        offset += in.number<std::uint16_t>();
        break;
      default:
        for (unsigned i = 0; i < u.operands[code]; ++i) in.variable();
    }
  }

  void run(reader& in) {
    while (!in.empty()) {
      const unsigned code = in.number<std::uint8_t>();
      if (code == 0) {
        extended(in);
      } else if (code < u.opcode_base) {
        standard(code, in);
      } else {
        const unsigned adjusted = code - u.opcode_base;
        offset += adjusted / u.line_range * u.least_step;
        line += static_cast<std::uint64_t>(u.line_base + static_cast<int>(adjusted % u.line_range));
        row(false);
      }
    }
  }
};

void read_unit(reader in, unsigned offset_bytes, const line_sections& sections, line_table& to) {
  const unsigned version = in.number<std::uint16_t>();
  if (version < 3 || version > 5) throw unreadable{};
  if (version >= 5) in.take(2);  // sizes of an address and of a segment
  reader header(in.take(in.number_of(offset_bytes)));
  const unit u = read_header(header, version, offset_bytes, sections, to);
  machine{u, to, 0, 1, 1, {}}.run(in);
}

}  // namespace

void read_line_tables(const line_sections& sections, line_table& to) {
  reader in(sections.lines);
  try {
    while (!in.empty()) {
      std::uint64_t length = in.number<std::uint32_t>();
      const bool wide = length == 0xffffffffu;
      if (wide) length = in.number<std::uint64_t>();
      const reader one(in.take(length));
      try {
        read_unit(one, wide ? 8 : 4, sections, to);
      } catch (const unreadable&) {
        continue;
      }
    }
  } catch (const unreadable&) {
    return;
  }
}

}  // namespace twill::simt
