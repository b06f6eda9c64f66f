// For each exported function of a file: its address, and where probes without and with return would be placed. Hexadecimal.
#include <cstdio>

#include "uprobe/attach/elf_file.h"
#include "uprobe/attach/probe_place.h"

using namespace gmt::uprobe;

int main(int count, char **words) {
  const auto file = count == 2 ? FileBytes::open(words[1]) : std::nullopt;
  const auto elf = file ? ElfFile::read(*file) : std::nullopt;
  if (!elf) return 1;
  for (const ElfSymbol &symbol : elf->symbols()) {
    if (!symbol.function || !elf->offset_of(symbol.address, true)) continue;
    auto code = elf->bytes_at(*file, symbol.address, 64);
    if (symbol.bytes && symbol.bytes < code.size()) code.resize(symbol.bytes);
    std::printf("%llx %x %x\n", static_cast<unsigned long long>(symbol.address), probe_place(code, false),
                probe_place(code, true));
  }
}
