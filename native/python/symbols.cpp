#include "python/symbols.h"

#include <elf.h>
#include <pthread.h>
#include <string.h>

namespace gmt::python {
namespace {

/// Held inside dl_iterate_phdr() and by a thread that forks: glibc renews the other locks of its loader in a child, but not that one.
/// Recursive, as the loader's own is: a signal handler may come in between.
pthread_mutex_t g_visiting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/// With the first visit, so that the library does nothing where it is only loaded.
void keep_forks_out() {
  static uint32_t done;
  if (__atomic_load_n(&done, __ATOMIC_RELAXED) || __atomic_exchange_n(&done, 1, __ATOMIC_RELAXED)) return;
  pthread_atfork([] { pthread_mutex_lock(&g_visiting); }, [] { pthread_mutex_unlock(&g_visiting); },
                 [] { g_visiting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; });
}

/// glibc relocates the addresses in a library's dynamic section in place, but not those of every object (vdso).
template <class T>
const T *at(const dl_phdr_info &module, ElfW(Addr) address) {
  return reinterpret_cast<const T *>(address < module.dlpi_addr ? address + module.dlpi_addr : address);
}

bool defines(const Tables &tables, uint32_t index, const char *name) {
  const ElfW(Sym) &symbol = tables.symbols[index];
  unsigned type = symbol.st_info & 0xf;
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT) &&
         strcmp(tables.strings + symbol.st_name, name) == 0;
}

/// Index of the symbol, 0 if it is not defined. Layout of DT_GNU_HASH: counts, bloom filter, buckets, chains.
uint32_t find_gnu(const Tables &tables, const char *name) {
  uint32_t hash = 5381;
  for (const char *c = name; *c; c++) hash = hash * 33 + static_cast<unsigned char>(*c);
  uint32_t buckets = tables.gnu_hash[0], first = tables.gnu_hash[1];
  uint32_t words = tables.gnu_hash[2], shift = tables.gnu_hash[3];
  if (buckets == 0 || words == 0) return 0;
  constexpr uint32_t kBits = sizeof(ElfW(Addr)) * 8;
  const auto *bloom = reinterpret_cast<const ElfW(Addr) *>(tables.gnu_hash + 4);
  ElfW(Addr) word = bloom[hash / kBits % words];
  if (!(word >> (hash % kBits) & word >> ((hash >> shift) % kBits) & 1)) return 0;
  const auto *bucket = reinterpret_cast<const uint32_t *>(bloom + words);
  const uint32_t *chain = bucket + buckets;
  uint32_t index = bucket[hash % buckets];
  if (index < first) return 0;
  for (;; index++) {
    uint32_t entry = chain[index - first];
    if ((entry | 1) == (hash | 1) && defines(tables, index, name)) return index;
    if (entry & 1) return 0;
  }
}

/// The same in DT_HASH, which some linkers still write alone.
uint32_t find_sysv(const Tables &tables, const char *name) {
  uint32_t hash = 0;
  for (const char *c = name; *c; c++) {
    hash = (hash << 4) + static_cast<unsigned char>(*c);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  uint32_t buckets = tables.sysv_hash[0];
  if (buckets == 0) return 0;
  const uint32_t *bucket = tables.sysv_hash + 2;
  const uint32_t *chain = bucket + buckets;
  for (uint32_t index = bucket[hash % buckets]; index; index = chain[index])
    if (defines(tables, index, name)) return index;
  return 0;
}

const ElfW(Sym) * definition_in(const Tables &tables, const char *name) {
  if (!tables.symbols || !tables.strings || (!tables.gnu_hash && !tables.sysv_hash)) return nullptr;
  const uint32_t index = tables.gnu_hash ? find_gnu(tables, name) : find_sysv(tables, name);
  return index ? &tables.symbols[index] : nullptr;
}

void *address_in(const dl_phdr_info &module, const Tables &tables, const char *name) {
  const ElfW(Sym) *symbol = definition_in(tables, name);
  return symbol ? reinterpret_cast<void *>(module.dlpi_addr + symbol->st_value) : nullptr;
}

}  // namespace

Tables tables_of(const dl_phdr_info &module) {
  Tables tables = {};
  const ElfW(Dyn) *entry = nullptr;
  for (int i = 0; i < module.dlpi_phnum; i++)
    if (module.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn) *>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
  for (; entry && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) tables.symbols = at<ElfW(Sym)>(module, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) tables.strings = at<char>(module, entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = at<uint32_t>(module, entry->d_un.d_ptr);
    if (entry->d_tag == DT_HASH) tables.sysv_hash = at<uint32_t>(module, entry->d_un.d_ptr);
    if (entry->d_tag == DT_JMPREL) tables.plt = at<ElfW(Rela)>(module, entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) tables.plt_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) tables.rela = at<ElfW(Rela)>(module, entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) tables.rela_bytes = entry->d_un.d_val;
  }
  return tables;
}

int iterate_modules(int (*step)(dl_phdr_info *, size_t, void *), void *data) {
  keep_forks_out();
  pthread_mutex_lock(&g_visiting);
  const int result = dl_iterate_phdr(step, data);
  pthread_mutex_unlock(&g_visiting);
  return result;
}

LoadCount load_count() {
  LoadCount count = {};
  visit_modules([&](const dl_phdr_info &module) {
    count = {module.dlpi_adds, module.dlpi_subs};
    return true;
  });
  return count;
}

const ElfW(Sym) * definition_in(const dl_phdr_info &module, const char *name) {
  return definition_in(tables_of(module), name);
}

void *find_symbol_in(const dl_phdr_info &module, const char *name) {
  return address_in(module, tables_of(module), name);
}

void find_symbols(Symbol *symbols, size_t count) {
  visit_modules([&](const dl_phdr_info &module) {
    const Tables tables = tables_of(module);
    size_t missing = 0;
    for (size_t i = 0; i < count; i++) {
      Symbol &symbol = symbols[i];
      if (!symbol.address) symbol.address = address_in(module, tables, symbol.name);
      if (!symbol.address) missing++;
    }
    return missing == 0;
  });
}

}  // namespace gmt::python
