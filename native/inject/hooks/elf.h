#pragma once
// Looking into the libraries that the process has mapped, without dlopen: their exported symbols and their import slots.
#include <dlfcn.h>
#include <stddef.h>

namespace gmt::inject {

/// Address of the exported `name` in the first mapped library whose file name begins with `library`; null: none. Reads the
/// library's own dynamic symbol table, so libraries opened with RTLD_LOCAL are found too.
void *find_symbol(const char *library, const char *name);

/// Sets a function to the one that dlsym(3) gives; false: there is none.
template <class Function>
bool resolve(void *library, Function *function, const char *name) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

/// Path of the first mapped library whose file name begins with `library`, copied to `path`; false: none.
bool find_library(const char *library, char *path, size_t capacity);

struct ThreadData {
  char *begin;  ///< null: the thread has none yet, or no library has that name
  size_t bytes;
};

/// The calling thread's thread-local variables of the first mapped library whose file name begins with `library`.
ThreadData thread_data(const char *library);

struct Import {
  const char *name;
  void *replacement;
};
#define GMT_IMPORT(name)                     \
  gmt::inject::Import {                      \
#name, reinterpret_cast < void *>(&name) \
  }

/// Points every import slot of the mapped libraries for these names at the replacement (not in the library that holds the
/// replacement). Needed only where the tracer was not preloaded, else symbol lookup finds it first by itself.
void redirect_imports(const Import *imports, size_t count);
template <size_t Count>
void redirect_imports(const Import (&imports)[Count]) {
  redirect_imports(imports, Count);
}

/// Exports the replacements, in place of its own, from the one mapped library that holds the address `inside`: dlsym(3) gives
/// them from now on, and libraries that are loaded later are bound to them.
void redirect_exports(const void *inside, const Import *exports, size_t count);
template <size_t Count>
void redirect_exports(const void *inside, const Import (&exports)[Count]) {
  redirect_exports(inside, exports, Count);
}

struct ImportSlot {
  void **at;   ///< null: the library has none for that name, or more than one
  bool bound;  ///< it leads out of the library: the dynamic loader has filled it in
};
/// The import slot for `name` of the first mapped library whose file name begins with `library`.
ImportSlot import_slot(const char *library, const char *name);

/// Points a slot at `value`.
void set_import_slot(void **slot, void *value);

/// Grows with each library that is mapped (dl_phdr_info::dlpi_adds).
unsigned long long libraries_added();

}  // namespace gmt::inject
