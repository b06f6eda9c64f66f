#include "uprobe/attach/elf_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace gmt::uprobe {
namespace {

constexpr uint64_t kMostHeaders = 256;
constexpr uint64_t kMostNameBytes = 1 << 20;

template <class T>
bool read_object(const FileBytes &file, uint64_t offset, T *to) {
  return file.read(offset, to, sizeof *to);
}

}  // namespace

std::string_view text_at(std::span<const std::byte> strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char *begin = reinterpret_cast<const char *>(strings.data()) + offset;
  const void *end = std::memchr(begin, 0, strings.size() - offset);
  return end ? std::string_view(begin, static_cast<const char *>(end)) : std::string_view{};
}

std::optional<FileBytes> FileBytes::open(const std::string &path) {
  // Not a FIFO or a device: opening or reading one could wait for ever, or do something.
  Descriptor fd(open_file(path.c_str(), O_RDONLY, FileLinks::kFollowed));
  if (fd < 0) return std::nullopt;
  struct stat facts {};
  if (!facts_of(fd, &facts)) facts.st_size = 0;
  return FileBytes(std::move(fd), static_cast<uint64_t>(facts.st_size));
}

bool FileBytes::read(uint64_t offset, void *to, size_t count) const {
  return offset <= size_ && count <= size_ - offset && read_all(fd_, offset, to, count);
}

std::vector<std::byte> FileBytes::copy(uint64_t offset, uint64_t count, uint64_t limit) const {
  if (count > limit || offset > size_ || count > size_ - offset) return {};
  std::vector<std::byte> bytes(count);
  if (!read(offset, bytes.data(), bytes.size())) bytes.clear();
  return bytes;
}

std::optional<ElfFile> ElfFile::read(const FileBytes &file) {
  ElfFile elf;
  if (!elf.read_segments(file) || !elf.read_sections(file)) return std::nullopt;
  elf.read_symbols(file);
  return elf;
}

bool ElfFile::read_segments(const FileBytes &file) {
  Elf64_Ehdr header;
  if (!read_object(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return false;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostHeaders) return false;
  for (uint32_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr part;
    if (header.e_phoff > file.size() || !read_object(file, header.e_phoff + i * sizeof part, &part)) return false;
    if (part.p_type == PT_LOAD)
      segments_.push_back(
          {part.p_vaddr, part.p_offset, part.p_filesz, (part.p_flags & PF_X) != 0, (part.p_flags & PF_W) != 0});
  }
  return !segments_.empty();
}

std::optional<uint64_t> ElfFile::offset_of(uint64_t address, bool code) const {
  for (const Segment &part : segments_) {
    if (address < part.address || address - part.address >= part.file_bytes || (code && !part.executable)) continue;
    uint64_t offset;
    if (__builtin_add_overflow(part.offset, address - part.address, &offset)) return std::nullopt;
    return offset;
  }
  return std::nullopt;
}

/// A program without exported symbols (statically linked) has none here, and that is no fault.
void ElfFile::read_symbols(const FileBytes &file) {
  each_symbol(file, SHT_DYNSYM, &strings_, [&](const ElfSymbol &symbol) {
    symbols_.push_back(symbol);
    return false;
  });
}

const ElfSymbol *ElfFile::find(std::string_view name) const {
  const auto found = std::ranges::find(symbols_, name, &ElfSymbol::name);
  return found == symbols_.end() ? nullptr : &*found;
}

std::vector<std::byte> ElfFile::bytes_at(const FileBytes &file, uint64_t address, size_t count) const {
  for (const Segment &part : segments_) {
    if (address < part.address || address - part.address >= part.file_bytes) continue;
    const uint64_t inside = address - part.address;
    const uint64_t most = part.file_bytes - inside;
    uint64_t offset;
    if (__builtin_add_overflow(part.offset, inside, &offset) || offset > file.size()) return {};
    const uint64_t there = std::min<uint64_t>({count, most, file.size() - offset});
    return file.copy(offset, there, count);
  }
  return {};
}

std::vector<std::byte> ElfFile::code_of(const FileBytes &file, const ElfSymbol &function) const {
  constexpr uint64_t kCodeBytes = 64;
  return bytes_at(file, function.address, function.bytes ? std::min(function.bytes, kCodeBytes) : kCodeBytes);
}

bool ElfFile::read_sections(const FileBytes &file) {
  Elf64_Ehdr header;
  if (!read_object(file, 0, &header) || header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  std::vector<Elf64_Shdr> table(header.e_shnum);
  if (!file.read(header.e_shoff, table.data(), table.size() * sizeof(Elf64_Shdr))) return false;
  std::vector<std::byte> names;
  if (header.e_shstrndx < table.size()) {
    const Elf64_Shdr &at = table[header.e_shstrndx];
    names = file.copy(at.sh_offset, at.sh_size, kMostNameBytes);
  }
  for (const Elf64_Shdr &one : table)
    sections_.push_back(
        {std::string(text_at(names, one.sh_name)), one.sh_type, one.sh_link, one.sh_addr, one.sh_offset, one.sh_size});
  return true;
}

}  // namespace gmt::uprobe
