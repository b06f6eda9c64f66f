#include "uprobe/python/process.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "uprobe/attach/foreign_memory.h"

namespace gmt::uprobe {
namespace {

constexpr uint64_t kMostTableBytes = 256u << 20, kMostNameBytes = 1u << 20;
constexpr size_t kMostMappings = 200000, kMostRanges = 64;
constexpr std::string_view kDeleted = " (deleted)";

std::string proc_path(pid_t pid, const std::string &rest) { return "/proc/" + std::to_string(pid) + "/" + rest; }

/// The text at `offset`, up to its NUL or the end.
std::string_view text_at(const std::vector<std::byte> &texts, uint64_t offset) {
  if (offset >= texts.size()) return {};
  const auto *begin = reinterpret_cast<const char *>(texts.data()) + offset;
  return {begin, strnlen(begin, texts.size() - offset)};
}

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
  iovec local = {to, bytes}, remote = {reinterpret_cast<void *>(address), bytes};
  const ssize_t got = read_process(pid_, local, &remote, 1);
  if (got >= 0 && static_cast<size_t>(got) != bytes) errno = EFAULT;
  return got >= 0 && static_cast<size_t>(got) == bytes;
}

std::string ForeignProcess::read_text(uint64_t address, size_t most) const {
  std::string text;
  for (char c; text.size() < most && read(address + text.size(), &c, 1) && c;) text += c;
  return text;
}

std::vector<MappedFile> ForeignProcess::mapped_files() const {
  std::vector<MappedFile> files;
  FILE *maps = fopen(proc_path(pid_, "maps").c_str(), "re");
  if (!maps) return files;
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
  symbols.read_sections();
  if (!symbols.find_bias(file)) return std::nullopt;
  return symbols;
}

/// From the file's header, which the first segment begins with.
bool MappedSymbols::find_bias(const MappedFile &file) {
  Elf64_Ehdr header;
  if (!file_.read(0, &header, sizeof header)) return false;
  for (uint32_t i = 0; i < header.e_phnum && i < 256; i++) {
    Elf64_Phdr segment;
    if (header.e_phoff > file_.size() || !file_.read(header.e_phoff + i * sizeof segment, &segment, sizeof segment))
      return false;
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    const auto address = file.address_of(segment.p_offset);
    if (!address) continue;
    bias_ = *address - segment.p_vaddr;
    return true;
  }
  return false;
}

void MappedSymbols::read_sections() {
  Elf64_Ehdr header;
  if (!file_.read(0, &header, sizeof header) || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  for (uint32_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    if (header.e_shoff > file_.size() || !file_.read(header.e_shoff + i * sizeof section, &section, sizeof section))
      return;
    sections_.push_back(
        {section.sh_name, section.sh_type, section.sh_link, section.sh_addr, section.sh_offset, section.sh_size});
  }
  if (header.e_shstrndx < sections_.size()) {
    const Section &names = sections_[header.e_shstrndx];
    section_names_ = file_.copy(names.offset, names.bytes, kMostNameBytes);
  }
}

std::optional<MappedSymbols::Symbol> MappedSymbols::find(std::string_view name) const {
  if (const ElfSymbol *symbol = elf_.find(name)) return Symbol{symbol->address + bias_, symbol->bytes};
  return find_local(name);
}

/// Calls each(symbol, name) for the symbols of .symtab until it says true. `names` holds the names.
template <class Each>
void MappedSymbols::each_local(std::vector<std::byte> *names, Each each) const {
  for (const Section &table : sections_) {
    if (table.type != SHT_SYMTAB || table.link >= sections_.size()) continue;
    const Section &texts = sections_[table.link];
    const auto symbols = file_.copy(table.offset, table.bytes, kMostTableBytes);
    *names = file_.copy(texts.offset, texts.bytes, kMostTableBytes);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, symbols.data() + at, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF && each(symbol, text_at(*names, symbol.st_name))) return;
    }
    return;
  }
}

std::optional<MappedSymbols::Symbol> MappedSymbols::find_local(std::string_view name) const {
  std::optional<Symbol> found;
  std::vector<std::byte> names;
  each_local(&names, [&](const Elf64_Sym &symbol, std::string_view its_name) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type == STT_OBJECT || type == STT_FUNC) && its_name == name)
      found = Symbol{symbol.st_value + bias_, symbol.st_size};
    return found.has_value();
  });
  return found;
}

std::vector<MappedSymbols::Function> MappedSymbols::functions() {
  std::vector<Function> functions;
  for (const ElfSymbol &symbol : elf_.symbols())
    if (symbol.function) functions.push_back({symbol.address + bias_, symbol.bytes, symbol.name});
  each_local(&local_names_, [&](const Elf64_Sym &symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size)
      functions.push_back({symbol.st_value + bias_, symbol.st_size, name});
    return false;
  });
  std::stable_sort(functions.begin(), functions.end(),
                   [](const Function &a, const Function &b) { return a.address < b.address; });
  return functions;
}

std::optional<MappedSymbols::Symbol> MappedSymbols::section(std::string_view name) const {
  for (const Section &section : sections_)
    if (section.address && text_at(section_names_, section.name) == name)
      return Symbol{section.address + bias_, section.bytes};
  return std::nullopt;
}

}  // namespace gmt::uprobe
