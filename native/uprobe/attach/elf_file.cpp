#include "uprobe/attach/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gmt::uprobe {
namespace {

constexpr uint64_t kMostHeaders = 256;
constexpr uint64_t kMostSymbols = 1 << 20, kMostStringBytes = 64 << 20, kMostNameBytes = 1 << 20;

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
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return std::nullopt;
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(fd);
    return std::nullopt;
  }
  return FileBytes(fd, static_cast<uint64_t>(facts.st_size));
}

FileBytes::FileBytes(FileBytes &&other) noexcept : fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

FileBytes::~FileBytes() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileBytes::read(uint64_t offset, void *to, size_t count) const {
  if (offset > size_ || count > size_ - offset) return false;
  for (size_t done = 0; done < count;) {
    const ssize_t n = ::pread(fd_, static_cast<char *>(to) + done, count - done, static_cast<off_t>(offset + done));
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::vector<std::byte> FileBytes::copy(uint64_t offset, uint64_t count, uint64_t limit) const {
  if (count > limit || offset > size_ || count > size_ - offset) return {};
  std::vector<std::byte> bytes(count);
  if (!read(offset, bytes.data(), bytes.size())) bytes.clear();
  return bytes;
}

std::optional<ElfFile> ElfFile::read(const FileBytes &file) {
  ElfFile elf;
  if (!elf.read_segments(file) || !elf.read_symbols(file)) return std::nullopt;
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
      segments_.push_back({part.p_vaddr, part.p_offset, part.p_filesz, (part.p_flags & PF_X) != 0});
    if (part.p_type == PT_DYNAMIC) {
      dynamic_offset_ = part.p_offset;
      dynamic_bytes_ = part.p_filesz;
    }
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

bool ElfFile::read_dynamic(const FileBytes &file, Dynamic *out) const {
  const auto bytes = file.copy(dynamic_offset_, dynamic_bytes_, 1 << 20);
  const auto place = [&](uint64_t address) { return offset_of(address, false).value_or(0); };
  for (size_t at = 0; at + sizeof(Elf64_Dyn) <= bytes.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SYMTAB) out->symbols = place(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRTAB) out->strings = place(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) out->string_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_HASH) out->hash = place(entry.d_un.d_ptr);
    if (entry.d_tag == DT_GNU_HASH) out->gnu_hash = place(entry.d_un.d_ptr);
  }
  return out->symbols != 0 && out->strings != 0;
}

/// The table tells its symbols' number only by where its last chain ends.
uint64_t ElfFile::count_gnu_symbols(const FileBytes &file, uint64_t table) const {
  uint32_t head[4];  // buckets, first symbol, words of the bloom filter, shift
  if (!file.read(table, head, sizeof head) || head[0] > kMostSymbols || head[2] > kMostSymbols) return 0;
  const uint64_t buckets_at = table + sizeof head + uint64_t{head[2]} * 8;
  const auto buckets = file.copy(buckets_at, uint64_t{head[0]} * 4, kMostSymbols * 4);
  uint32_t last = 0;
  for (size_t at = 0; at + 4 <= buckets.size(); at += 4) {
    uint32_t first;
    std::memcpy(&first, buckets.data() + at, 4);
    if (first > last) last = first;
  }
  if (last < head[1]) return head[1] <= kMostSymbols ? head[1] : 0;
  const uint64_t chains_at = buckets_at + uint64_t{head[0]} * 4;
  for (uint32_t value = 0; last < kMostSymbols; last++) {
    if (!file.read(chains_at + uint64_t{last - head[1]} * 4, &value, 4)) return 0;
    if (value & 1) return uint64_t{last} + 1;
  }
  return 0;
}

uint64_t ElfFile::count_symbols(const FileBytes &file, const Dynamic &dynamic) const {
  uint32_t head[2];
  if (dynamic.hash && file.read(dynamic.hash, head, sizeof head)) return head[1] <= kMostSymbols ? head[1] : 0;
  return dynamic.gnu_hash ? count_gnu_symbols(file, dynamic.gnu_hash) : 0;
}

/// A program without exported symbols (statically linked) has none here, and that is no fault.
bool ElfFile::read_symbols(const FileBytes &file) {
  if (dynamic_bytes_ == 0) return true;
  Dynamic dynamic;
  if (!read_dynamic(file, &dynamic)) return false;
  const uint64_t count = count_symbols(file, dynamic);
  const auto table = file.copy(dynamic.symbols, count * sizeof(Elf64_Sym), kMostSymbols * sizeof(Elf64_Sym));
  strings_ = file.copy(dynamic.strings, dynamic.string_bytes, kMostStringBytes);
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + at, sizeof symbol);
    const std::string_view name = text_at(strings_, symbol.st_name);
    const uint8_t type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || name.empty() || type == STT_TLS) continue;
    symbols_.push_back({name, symbol.st_value, symbol.st_size, type == STT_FUNC});
  }
  return true;
}

const ElfSymbol *ElfFile::find(std::string_view name) const {
  for (const ElfSymbol &symbol : symbols_)
    if (symbol.name == name) return &symbol;
  return nullptr;
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

std::vector<ElfFile::Section> ElfFile::sections(const FileBytes &file) const {
  Elf64_Ehdr header;
  if (!read_object(file, 0, &header) || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  std::vector<Elf64_Shdr> table(header.e_shnum);
  if (!file.read(header.e_shoff, table.data(), table.size() * sizeof(Elf64_Shdr))) return {};
  std::vector<std::byte> names;
  if (header.e_shstrndx < table.size()) {
    const Elf64_Shdr &at = table[header.e_shstrndx];
    names = file.copy(at.sh_offset, at.sh_size, kMostNameBytes);
  }
  std::vector<Section> out;
  for (const Elf64_Shdr &one : table)
    out.push_back(
        {std::string(text_at(names, one.sh_name)), one.sh_type, one.sh_link, one.sh_addr, one.sh_offset, one.sh_size});
  return out;
}

}  // namespace gmt::uprobe
