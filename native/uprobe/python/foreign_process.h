#pragma once
// Another process's memory and the files that it has mapped. All that is read from either is untrusted: a process may be anything,
// and may change while it is looked at.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "uprobe/attach/elf_file.h"

namespace gmt::uprobe {

/// A file that the process has mapped.
struct MappedFile {
  struct Range {
    uint64_t begin, end;  ///< addresses
    uint64_t offset;      ///< in the file
  };
  uint64_t inode;
  std::string path;  ///< as the process sees it
  std::vector<Range> ranges;

  std::string_view name() const;  ///< the last part of `path`
  /// Where the file's byte at `offset` is mapped first.
  std::optional<uint64_t> address_of(uint64_t offset) const;
};

/// The files in the text of a /proc/PID/maps, each once.
std::vector<MappedFile> read_mappings(FILE *maps);

class ForeignProcess {
 public:
  explicit ForeignProcess(pid_t pid) : pid_(pid) {}

  /// False: not all of it could be read; errno has the reason.
  bool read(uint64_t address, void *to, size_t bytes) const;
  template <class T>
  std::optional<T> read(uint64_t address) const {
    T value;
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  /// Up to its NUL, or to `most` bytes.
  std::string read_text(uint64_t address, size_t most) const;

  /// The files that are mapped, each once, the program first. Empty: they cannot be seen, or the process is gone.
  std::vector<MappedFile> mapped_files() const;

  /// Opens a mapped file, also one in another mount namespace or one that was deleted.
  std::optional<FileBytes> open(const MappedFile &file) const;

 private:
  pid_t pid_;
};

/// The symbols of a mapped file, as addresses of the process.
class MappedSymbols {
 public:
  struct Symbol {
    uint64_t address, bytes;
  };
  /// Nullopt: no ELF file that could be read.
  static std::optional<MappedSymbols> read(const ForeignProcess &process, const MappedFile &file);

  /// Of .dynsym, else of .symtab.
  std::optional<Symbol> find(std::string_view name) const;
  std::optional<Symbol> section(std::string_view name) const;

  struct Function {
    uint64_t address, bytes;
    std::string_view name;  ///< lies in this object
  };
  /// All functions of .dynsym and .symtab, by address. Call it once: it keeps their names.
  std::vector<Function> functions();
  /// Address in the process - address as linked.
  uint64_t bias() const { return bias_; }
  /// Whether the variables of `file`, which this was read of, are in their places. While a library is loaded they are not: the dynamic
  /// linker maps the whole file first, and then its variables over a part of that.
  bool has_variables(const MappedFile &file) const;

 private:
  MappedSymbols(FileBytes &&file, ElfFile &&elf) : file_(std::move(file)), elf_(std::move(elf)) {}
  bool find_bias(const MappedFile &file);

  FileBytes file_;
  ElfFile elf_;
  std::vector<std::byte> local_names_;
  uint64_t bias_ = 0;
};

}  // namespace gmt::uprobe
