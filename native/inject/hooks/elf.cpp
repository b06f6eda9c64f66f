#include "inject/hooks/elf.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "python/symbols.h"
#include "wire/processor.h"

namespace gmt::inject {
namespace {

const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : nullptr;
  return slash ? slash + 1 : path ? path : "";
}

/// python::visit_modules(), for those whose file's name begins so.
template <typename Visit>
bool visit_libraries(const char *library, Visit visit) {
  return python::visit_modules([&](const dl_phdr_info &info) {
    return strncmp(base_name(info.dlpi_name), library, strlen(library)) == 0 && visit(info);
  });
}

/// Calls `visit(name, slot)` for each import slot of a library.
template <typename Visit>
void visit_slots(const dl_phdr_info &info, Visit visit) {
  const python::Tables tables = python::tables_of(info);
  if (!tables.symbols || !tables.strings) return;
  const auto in_table = [&](const ElfW(Rela) * table, size_t bytes) {
    for (size_t i = 0; table && i < bytes / sizeof *table; i++) {
      const auto type = ELF64_R_TYPE(table[i].r_info);
      if (type != kCalledSlot && type != kNamedSlot) continue;
      visit(tables.strings + tables.symbols[ELF64_R_SYM(table[i].r_info)].st_name,
            reinterpret_cast<void **>(info.dlpi_addr + table[i].r_offset));
    }
  };
  in_table(tables.plt, tables.plt_bytes);
  in_table(tables.rela, tables.rela_bytes);
}

/// The part of a library that an address lies in; null: in none.
const ElfW(Phdr) * part_with(const dl_phdr_info &info, const void *address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < info.dlpi_phnum; i++) {
    const ElfW(Phdr) &part = info.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && at - info.dlpi_addr - part.p_vaddr < part.p_memsz) return &part;
  }
  return nullptr;
}

bool holds(const dl_phdr_info &info, const void *address) { return part_with(info, address) != nullptr; }

void *page_of(const void *address) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) & ~(page - 1));
}

/// A symbol's value counts from the library's base, and may well lie outside of it. Read-only pages are so again afterwards.
void set_export(const dl_phdr_info &info, const ElfW(Sym) * symbol, void *value) {
  auto *at = const_cast<ElfW(Addr) *>(&symbol->st_value);
  const ElfW(Phdr) *part = part_with(info, at);
  if (!part) return;
  const int now = (part->p_flags & PF_R ? PROT_READ : 0) | (part->p_flags & PF_W ? PROT_WRITE : 0) |
                  (part->p_flags & PF_X ? PROT_EXEC : 0);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (mprotect(page_of(at), page, now | PROT_WRITE) != 0) return;
  __atomic_store_n(at, reinterpret_cast<uintptr_t>(value) - info.dlpi_addr, __ATOMIC_RELEASE);
  mprotect(page_of(at), page, now);
}

}  // namespace

void *find_symbol(const char *library, const char *name) {
  void *found = nullptr;
  visit_libraries(library, [&](const dl_phdr_info &info) {
    found = python::find_symbol_in(info, name);
    return found != nullptr;
  });
  return found;
}

bool find_library(const char *library, char *path, size_t capacity) {
  return visit_libraries(library, [&](const dl_phdr_info &info) {
    strncpy(path, info.dlpi_name, capacity - 1);
    path[capacity - 1] = 0;
    return true;
  });
}

ThreadData thread_data(const char *library) {
  ThreadData found{nullptr, 0};
  visit_libraries(library, [&](const dl_phdr_info &info) {
    for (int i = 0; i < info.dlpi_phnum; i++)
      if (info.dlpi_phdr[i].p_type == PT_TLS)
        found = {static_cast<char *>(info.dlpi_tls_data), info.dlpi_phdr[i].p_memsz};
    return true;
  });
  return found;
}

/// RELRO pages are read-only by now; the slot's page is made writable and left so (as it is without RELRO).
void set_import_slot(void **slot, void *value) {
  if (*slot == value) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (mprotect(page_of(slot), page, PROT_READ | PROT_WRITE) == 0) __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

ImportSlot import_slot(const char *library, const char *name) {
  ImportSlot found{nullptr, false};
  uint32_t count = 0;
  visit_libraries(library, [&](const dl_phdr_info &info) {
    visit_slots(info, [&](const char *other, void **slot) {
      if (strcmp(name, other) != 0) return;
      found = {slot, !holds(info, *slot)};
      count++;
    });
    return count != 0;
  });
  return count == 1 ? found : ImportSlot{nullptr, false};
}

void redirect_imports(const Import *imports, size_t count) {
  python::visit_modules([&](const dl_phdr_info &info) {
    if (holds(info, imports[0].replacement)) return false;
    visit_slots(info, [&](const char *name, void **slot) {
      for (size_t k = 0; k < count; k++)
        if (strcmp(name, imports[k].name) == 0) set_import_slot(slot, imports[k].replacement);
    });
    return false;
  });
}

void redirect_exports(const void *inside, const Import *exports, size_t count) {
  python::visit_modules([&](const dl_phdr_info &info) {
    if (!holds(info, inside)) return false;
    for (size_t k = 0; k < count; k++)
      if (const ElfW(Sym) *symbol = python::definition_in(info, exports[k].name))
        set_export(info, symbol, exports[k].replacement);
    return true;
  });
}

unsigned long long libraries_added() { return python::load_count().added; }

}  // namespace gmt::inject
