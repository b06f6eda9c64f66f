#pragma once
// Reads the ELF files of traced programs: exported symbols and where they lie in the file. The files are somebody
// else's, so every number in them is doubted, and all that is used is copied: a file that shrinks meanwhile is a short read.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gmt::uprobe {

/// An open file.
class FileBytes {
 public:
  static std::optional<FileBytes> open(const std::string &path);
  FileBytes(FileBytes &&other) noexcept;
  FileBytes &operator=(FileBytes &&) = delete;
  ~FileBytes();

  uint64_t size() const { return size_; }
  /// Exactly `count` bytes from `offset`; false: they are not all there.
  bool read(uint64_t offset, void *to, size_t count) const;
  /// As read, at most `limit` bytes; empty: not there or too many.
  std::vector<std::byte> copy(uint64_t offset, uint64_t count, uint64_t limit) const;

 private:
  FileBytes(int fd, uint64_t size) : fd_(fd), size_(size) {}
  int fd_;
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
    bool executable;
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
  /// By number; empty: they do not lie inside the file.
  std::vector<Section> sections(const FileBytes &file) const;

 private:
  ElfFile() = default;
  struct Dynamic {
    uint64_t symbols = 0, strings = 0, string_bytes = 0, hash = 0, gnu_hash = 0;
  };
  bool read_segments(const FileBytes &file);
  bool read_symbols(const FileBytes &file);
  bool read_dynamic(const FileBytes &file, Dynamic *out) const;
  uint64_t count_symbols(const FileBytes &file, const Dynamic &dynamic) const;
  uint64_t count_gnu_symbols(const FileBytes &file, uint64_t table) const;

  std::vector<Segment> segments_;
  uint64_t dynamic_offset_ = 0, dynamic_bytes_ = 0;
  std::vector<std::byte> strings_;
  std::vector<ElfSymbol> symbols_;
};

}  // namespace gmt::uprobe
