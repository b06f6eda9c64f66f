#pragma once
// Exported symbols of everything that is loaded, found without dlsym: that would miss a library which was loaded
// with RTLD_LOCAL, and its symbol version would raise the glibc that the guest library needs.
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace gmt::python {

/// dl_iterate_phdr(), which no thread is in while the process forks: a child would have the loader's list locked for ever.
int iterate_modules(int (*step)(dl_phdr_info *, size_t, void *), void *data);

/// Calls `visit(module)` for all that is loaded, in load order, until one of the calls gives true. False: none did.
template <typename Visit>
bool visit_modules(Visit visit) {
  const auto step = [](dl_phdr_info *module, size_t, void *data) -> int {
    return (*static_cast<Visit *>(data))(*module);
  };
  return iterate_modules(step, &visit) != 0;
}

struct Symbol {
  const char *name;
  void *address;  ///< of the first definition in load order; null: none
};

/// Changes of the set of loaded libraries; equal counts mean an equal set.
struct LoadCount {
  unsigned long long added;
  unsigned long long removed;
  bool operator==(const LoadCount &) const = default;
};

/// The loader's counts now. Takes the loader's lock, as `find_symbols` does.
LoadCount load_count();

/// The parts of a loaded module's dynamic section; null: it has none of that.
struct Tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *gnu_hash, *sysv_hash;
  const ElfW(Rela) * plt, *rela;
  size_t plt_bytes, rela_bytes;
};
Tables tables_of(const dl_phdr_info &module);

/// What a loaded module exports under this name; null: nothing.
const ElfW(Sym) * definition_in(const dl_phdr_info &module, const char *name);

/// Its address; null: nothing.
void *find_symbol_in(const dl_phdr_info &module, const char *name);

/// Fills in the addresses of `count` symbols. They hold as long as no library is unloaded.
void find_symbols(Symbol *symbols, size_t count);

}  // namespace gmt::python
