// Notes of USDT probes (SystemTap's format 3) and the spelling of their arguments.
#include "uprobe/attach/usdt.h"

#include <elf.h>

#include <charconv>
#include <cstring>

#include "uprobe/attach/elf_file.h"

namespace gmt::uprobe {
namespace {

constexpr uint64_t kMostNoteBytes = 8 << 20;
constexpr uint32_t kNoteType = 3;

std::string_view read_text(std::span<const std::byte> &rest) {
  const std::string_view text = text_at(rest, 0);
  if (text.data()) rest = rest.subspan(text.size() + 1);
  return text;
}

uint64_t round_up(uint64_t n) { return (n + 3) & ~uint64_t{3}; }

/// One note of the section; false: what follows cannot be read.
bool read_note(std::span<const std::byte> &rest, uint64_t base_here, std::vector<UsdtNote> *out) {
  Elf64_Nhdr head;
  if (rest.size() < sizeof head) return false;
  std::memcpy(&head, rest.data(), sizeof head);
  const uint64_t name = round_up(head.n_namesz), about = round_up(head.n_descsz);
  if (name > rest.size() - sizeof head || about > rest.size() - sizeof head - name) return false;
  const auto name_bytes = rest.subspan(sizeof head, head.n_namesz);
  auto desc = rest.subspan(sizeof head + name, head.n_descsz);
  rest = rest.subspan(sizeof head + name + about);
  uint64_t places[3];  // the probe, .stapsdt.base when it was linked, the semaphore
  if (head.n_type != kNoteType || name_bytes.size() != 8 || std::memcmp(name_bytes.data(), "stapsdt", 8) != 0 ||
      desc.size() < sizeof places)
    return true;
  std::memcpy(places, desc.data(), sizeof places);
  desc = desc.subspan(sizeof places);
  UsdtNote note;
  note.provider = read_text(desc);
  note.name = read_text(desc);
  note.arguments = read_text(desc);
  const uint64_t moved = base_here ? base_here - places[1] : 0;  // a prelinked file was moved after the note was made
  note.address = places[0] + moved;
  note.semaphore = places[2] ? places[2] + moved : 0;
  out->push_back(std::move(note));
  return true;
}

struct Register {
  std::string_view names[4];  // 8, 4, 2, 1 bytes
  uint8_t number;             // enum gmt_up_register
};
constexpr Register kRegisters[] = {
    {{"rax", "eax", "ax", "al"}, GMT_UP_RAX},      {{"rbx", "ebx", "bx", "bl"}, GMT_UP_RBX},
    {{"rcx", "ecx", "cx", "cl"}, GMT_UP_RCX},      {{"rdx", "edx", "dx", "dl"}, GMT_UP_RDX},
    {{"rsi", "esi", "si", "sil"}, GMT_UP_RSI},     {{"rdi", "edi", "di", "dil"}, GMT_UP_RDI},
    {{"rbp", "ebp", "bp", "bpl"}, GMT_UP_RBP},     {{"rsp", "esp", "sp", "spl"}, GMT_UP_RSP},
    {{"r8", "r8d", "r8w", "r8b"}, GMT_UP_R8},      {{"r9", "r9d", "r9w", "r9b"}, GMT_UP_R9},
    {{"r10", "r10d", "r10w", "r10b"}, GMT_UP_R10}, {{"r11", "r11d", "r11w", "r11b"}, GMT_UP_R11},
    {{"r12", "r12d", "r12w", "r12b"}, GMT_UP_R12}, {{"r13", "r13d", "r13w", "r13b"}, GMT_UP_R13},
    {{"r14", "r14d", "r14w", "r14b"}, GMT_UP_R14}, {{"r15", "r15d", "r15w", "r15b"}, GMT_UP_R15},
};

bool parse_register(std::string_view text, uint8_t *number) {
  if (text.empty() || text[0] != '%') return false;
  text.remove_prefix(1);
  for (const Register &known : kRegisters)
    for (std::string_view name : known.names)
      if (name == text) return *number = known.number, true;
  return false;
}

bool parse_number(std::string_view text, int64_t *out) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out, hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size();
}

/// `SIZE@WHERE`: WHERE is %reg, $constant, or offset(%reg).
bool parse_argument(std::string_view text, gmt_up_usdt_argument *out) {
  const size_t at = text.find('@');
  int64_t bytes = 0;
  if (at == std::string_view::npos || !parse_number(text.substr(0, at), &bytes)) return false;
  out->is_signed = bytes < 0;
  if (bytes < 0) bytes = -bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
  out->bytes = static_cast<uint8_t>(bytes);
  const std::string_view where = text.substr(at + 1);
  if (where.starts_with("$")) {
    out->kind = GMT_UP_USDT_CONSTANT;
    return parse_number(where.substr(1), &out->value);
  }
  const size_t open = where.find('(');
  if (open == std::string_view::npos) {
    out->kind = GMT_UP_USDT_REGISTER;
    return parse_register(where, &out->reg);
  }
  out->kind = GMT_UP_USDT_MEMORY;
  if (open > 0 && !parse_number(where.substr(0, open), &out->value)) return false;
  return where.ends_with(")") && parse_register(where.substr(open + 1, where.size() - open - 2), &out->reg);
}

}  // namespace

bool parse_usdt_arguments(std::string_view text, gmt_up_usdt *out) {
  *out = {};
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (word.empty()) continue;
    if (out->count == GMT_UP_USDT_ARGUMENTS || !parse_argument(word, &out->arguments[out->count])) return false;
    out->count++;
  }
  return true;
}

std::vector<UsdtNote> ElfFile::usdt_notes(const FileBytes &file) const {
  std::vector<UsdtNote> notes;
  uint64_t base = 0;
  const auto parts = sections(file);
  for (const Section &part : parts)
    if (part.name == ".stapsdt.base") base = part.address;
  for (const Section &part : parts) {
    if (part.name != ".note.stapsdt") continue;
    const auto bytes = file.copy(part.offset, part.bytes, kMostNoteBytes);
    std::span<const std::byte> rest(bytes);
    while (read_note(rest, base, &notes)) {
    }
  }
  return notes;
}

}  // namespace gmt::uprobe
