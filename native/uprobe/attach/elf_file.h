#pragma once
// Reads the ELF files of traced programs: exported symbols and where they lie in the file. The files are somebody
// else's, so every number in them is doubted, and all that is used is copied: a file that shrinks meanwhile is a short read.
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/files.h"

namespace gmt::uprobe {

class FileBytes {
 public:
  static std::optional<FileBytes> open(const std::string &path);

  uint64_t size() const { return size_; }
  /// Exactly `count` bytes from `offset`; false: they are not all there.
  bool read(uint64_t offset, void *to, size_t count) const;
  /// As read, at most `limit` bytes; empty: not there or too many.
  std::vector<std::byte> copy(uint64_t offset, uint64_t count, uint64_t limit) const;

 private:
  FileBytes(Descriptor fd, uint64_t size) : fd_(std::move(fd)), size_(size) {}
  Descriptor fd_;
  uint64_t size_ = 0;
};

/// The text at `offset`, up to its NUL; without data: outside, or without an end.
std::string_view text_at(std::span<const std::byte> strings, uint64_t offset);

struct ElfSymbol {
  std::string_view name;  ///< lies in its ElfFile
  uint64_t address;       ///< as linked
  uint64_t bytes;
  bool function;
};

class ElfFile {
 public:
  /// Loaded into memory.
  struct Segment {
    uint64_t address, offset, file_bytes;
    bool executable, writable;
  };
  struct Section {
    std::string name;
    uint32_t type, link;
    uint64_t address, offset, bytes;
  };
  ElfFile(ElfFile &&) = default;
  ElfFile &operator=(ElfFile &&) = default;
  /// 64-bit little-endian files only; none: it is no such file, or its tables do not lie inside it.
  static std::optional<ElfFile> read(const FileBytes &file);

  /// Defined symbols of .dynsym.
  const std::vector<ElfSymbol> &symbols() const { return symbols_; }
  const ElfSymbol *find(std::string_view name) const;
  /// Place in the file of what is linked at `address`; none: not backed by the file (or not code where `code`).
  std::optional<uint64_t> offset_of(uint64_t address, bool code) const;
  /// Up to `count` bytes of what is linked at `address`.
  std::vector<std::byte> bytes_at(const FileBytes &file, uint64_t address, size_t count) const;
  /// The first bytes of a function, as many as it takes to find a place for a probe.
  std::vector<std::byte> code_of(const FileBytes &file, const ElfSymbol &function) const;
  const std::vector<Segment> &segments() const { return segments_; }
  /// By number.
  const std::vector<Section> &sections() const { return sections_; }
  /// Calls each(symbol) for what the first table of this type (SHT_DYNSYM, SHT_SYMTAB) defines, until it says true; names lie in `names`.
  template <class Each>
  void each_symbol(const FileBytes &file, uint32_t type, std::vector<std::byte> *names, Each each) const {
    constexpr uint64_t kMostBytes = 256u << 20;
    const auto table = std::ranges::find(sections_, type, &Section::type);
    if (table == sections_.end() || table->link >= sections_.size()) return;
    const Section &texts = sections_[table->link];
    const auto symbols = file.copy(table->offset, table->bytes, kMostBytes);
    *names = file.copy(texts.offset, texts.bytes, kMostBytes);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      const std::string_view name = text_at(*names, symbol.st_name);
      const uint8_t kind = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || name.empty() || kind == STT_TLS) continue;
      if (each(ElfSymbol{name, symbol.st_value, symbol.st_size, kind == STT_FUNC})) return;
    }
  }

 private:
  ElfFile() = default;
  bool read_segments(const FileBytes &file);
  bool read_sections(const FileBytes &file);
  void read_symbols(const FileBytes &file);

  std::vector<Segment> segments_;
  std::vector<Section> sections_;
  std::vector<std::byte> strings_;
  std::vector<ElfSymbol> symbols_;
};

}  // namespace gmt::uprobe
