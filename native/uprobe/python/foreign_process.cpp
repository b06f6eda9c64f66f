#include "uprobe/python/foreign_process.h"

#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>

#include "uprobe/attach/foreign_memory.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostMappings = 200000, kMostRanges = 64;
constexpr std::string_view kDeleted = " (deleted)";

std::string proc_path(pid_t pid, const std::string &rest) { return "/proc/" + std::to_string(pid) + "/" + rest; }

/// One line of /proc/PID/maps; false: nothing of a file.
bool parse_mapping(const char *line, MappedFile *file) {
  MappedFile::Range range = {};
  int path = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64 " %n", &range.begin, &range.end,
             &range.offset, &file->inode, &path) != 4)
    return false;
  file->path = line + path;
  while (!file->path.empty() && file->path.back() == '\n') file->path.pop_back();
  file->ranges = {range};
  return file->inode != 0 && file->path.starts_with('/');
}

}  // namespace

std::string_view MappedFile::name() const {
  std::string_view whole = path;
  return whole.substr(whole.rfind('/') + 1);
}

std::optional<uint64_t> MappedFile::address_of(uint64_t offset) const {
  for (const Range &range : ranges)
    if (offset >= range.offset && offset - range.offset < range.end - range.begin)
      return range.begin + (offset - range.offset);
  return std::nullopt;
}

bool ForeignProcess::read(uint64_t address, void *to, size_t bytes) const {
  return read_process(pid_, address, to, bytes);
}

std::string ForeignProcess::read_text(uint64_t address, size_t most) const {
  std::string text;
  for (char c; text.size() < most && read(address + text.size(), &c, 1) && c;) text += c;
  return text;
}

std::vector<MappedFile> read_mappings(FILE *maps) {
  std::vector<MappedFile> files;
  char *line = nullptr;
  size_t capacity = 0;
  for (size_t lines = 0; lines < kMostMappings && getline(&line, &capacity, maps) > 0; lines++) {
    MappedFile file = {};
    if (!parse_mapping(line, &file)) continue;
    auto same = [&](const MappedFile &other) { return other.inode == file.inode && other.path == file.path; };
    auto known = std::find_if(files.begin(), files.end(), same);
    if (known == files.end())
      files.push_back(std::move(file));
    else if (known->ranges.size() < kMostRanges)
      known->ranges.push_back(file.ranges[0]);
  }
  free(line);
  return files;
}

std::vector<MappedFile> ForeignProcess::mapped_files() const {
  FILE *maps = fopen(proc_path(pid_, "maps").c_str(), "re");
  if (!maps) return {};
  std::vector<MappedFile> files = read_mappings(maps);
  fclose(maps);
  struct stat program;
  if (stat(proc_path(pid_, "exe").c_str(), &program) == 0)
    std::stable_partition(files.begin(), files.end(), [&](const MappedFile &f) { return f.inode == program.st_ino; });
  return files;
}

std::optional<FileBytes> ForeignProcess::open(const MappedFile &file) const {
  char range[64];
  snprintf(range, sizeof range, "map_files/%" PRIx64 "-%" PRIx64, file.ranges[0].begin, file.ranges[0].end);
  if (auto opened = FileBytes::open(proc_path(pid_, range))) return opened;
  // Following map_files needs CAP_CHECKPOINT_RESTORE; the path may by now name another file.
  if (file.path.ends_with(kDeleted)) return std::nullopt;
  // The last way is for a process that has ended.
  for (const std::string &way : {proc_path(pid_, "root" + file.path), proc_path(pid_, "exe"), file.path}) {
    struct stat about;
    if (stat(way.c_str(), &about) == 0 && about.st_ino == file.inode)
      if (auto opened = FileBytes::open(way)) return opened;
  }
  return std::nullopt;
}

std::optional<MappedSymbols> MappedSymbols::read(const ForeignProcess &process, const MappedFile &file) {
  auto bytes = process.open(file);
  if (!bytes) return std::nullopt;
  auto elf = ElfFile::read(*bytes);
  if (!elf) return std::nullopt;
  MappedSymbols symbols(std::move(*bytes), std::move(*elf));
  if (!symbols.find_bias(file)) return std::nullopt;
  return symbols;
}

bool MappedSymbols::find_bias(const MappedFile &file) {
  for (const ElfFile::Segment &segment : elf_.segments()) {
    const auto address = segment.file_bytes ? file.address_of(segment.offset) : std::nullopt;
    if (!address) continue;
    bias_ = *address - segment.address;
    return true;
  }
  return false;
}

bool MappedSymbols::has_variables(const MappedFile &file) const {
  return std::ranges::all_of(elf_.segments(), [&](const ElfFile::Segment &segment) {
    if (!segment.writable || !segment.file_bytes) return true;
    const uint64_t address = segment.address + bias_;
    return std::ranges::any_of(file.ranges, [&](const MappedFile::Range &range) {
      return address >= range.begin && address < range.end && range.offset + (address - range.begin) == segment.offset;
    });
  });
}

std::optional<MappedSymbols::Symbol> MappedSymbols::find(std::string_view name) const {
  if (const ElfSymbol *symbol = elf_.find(name)) return Symbol{symbol->address + bias_, symbol->bytes};
  std::optional<Symbol> found;
  std::vector<std::byte> names;
  elf_.each_symbol(file_, SHT_SYMTAB, &names, [&](const ElfSymbol &symbol) {
    if (symbol.name == name) found = Symbol{symbol.address + bias_, symbol.bytes};
    return found.has_value();
  });
  return found;
}

std::vector<MappedSymbols::Function> MappedSymbols::functions() {
  std::vector<Function> functions;
  for (const ElfSymbol &symbol : elf_.symbols())
    if (symbol.function) functions.push_back({symbol.address + bias_, symbol.bytes, symbol.name});
  elf_.each_symbol(file_, SHT_SYMTAB, &local_names_, [&](const ElfSymbol &symbol) {
    if (symbol.function && symbol.bytes) functions.push_back({symbol.address + bias_, symbol.bytes, symbol.name});
    return false;
  });
  std::ranges::stable_sort(functions, {}, &Function::address);
  return functions;
}

std::optional<MappedSymbols::Symbol> MappedSymbols::section(std::string_view name) const {
  for (const ElfFile::Section &section : elf_.sections())
    if (section.address && section.name == name) return Symbol{section.address + bias_, section.bytes};
  return std::nullopt;
}

}  // namespace gmt::uprobe
