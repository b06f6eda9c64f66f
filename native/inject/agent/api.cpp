#include "inject/agent/api.h"

#include <stddef.h>
#include <string.h>

#include "python/symbols.h"

namespace gmt::inject {
namespace {

PythonApi g_api;
uint32_t g_found;

#define GMT_NAME_OF(field, name, ...) {name, nullptr},
#define GMT_ONE(...) +1
constexpr size_t kRequired = 0 GMT_PYTHON_API(GMT_ONE);
constexpr size_t kAll = kRequired GMT_PYTHON_API_OPTIONAL(GMT_ONE);
static_assert(sizeof(PythonApi) == kAll * sizeof(void *));

}  // namespace

const PythonApi *python_api() {
  if (__atomic_load_n(&g_found, __ATOMIC_ACQUIRE)) return &g_api;
  python::Symbol symbols[kAll] = {GMT_PYTHON_API(GMT_NAME_OF) GMT_PYTHON_API_OPTIONAL(GMT_NAME_OF)};
  python::find_symbols(symbols, kAll);
  void *addresses[kAll];
  for (size_t i = 0; i < kAll; i++) {
    if (i < kRequired && !symbols[i].address) return nullptr;
    addresses[i] = symbols[i].address;
  }
  memcpy(static_cast<void *>(&g_api), addresses, sizeof g_api);
  __atomic_store_n(&g_found, 1, __ATOMIC_RELEASE);
  return &g_api;
}

}  // namespace gmt::inject
