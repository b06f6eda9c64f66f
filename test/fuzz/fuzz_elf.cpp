// The files of traced programs: symbols, sections, autograd's functions, places of probes.
#include "fuzz.h"
#include "memory_file.h"
#include "uprobe/attach/autograd_probes.h"
#include "uprobe/attach/elf_file.h"
#include "uprobe/attach/probe_place.h"

using namespace gmt::uprobe;

FUZZ(elf, const uint8_t *data, size_t size) {
  const FileBytes file = *FileBytes::open(gmt::test::memory_file(std::as_bytes(std::span(data, size))));
  const auto elf = ElfFile::read(file);
  if (!elf) return 0;
  for (const ElfSymbol &symbol : elf->symbols()) {
    if (symbol.name.empty()) __builtin_trap();
    const auto code = elf->code_of(file, symbol);
    for (const bool keeps_stack : {false, true})
      if (probe_place(code, keeps_stack) > code.size()) __builtin_trap();
    find_thread_local(code, symbol.address);
    elf->offset_of(symbol.address, true);
  }
  find_autograd(file, *elf);
  return 0;
}
