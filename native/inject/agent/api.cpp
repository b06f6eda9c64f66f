#include "inject/agent/api.h"

#include <stddef.h>
#include <string.h>

#include "python/symbols.h"

namespace gmt::inject {
namespace {

#define GMT_NAME_OF(field, name, ...) {name, nullptr},
#define GMT_ONE(...) +1
constexpr size_t kRequired = 0 GMT_PYTHON_API(GMT_ONE);
constexpr size_t kAll = kRequired GMT_PYTHON_API_OPTIONAL(GMT_ONE);
static_assert(sizeof(PythonApi) == kAll * sizeof(void *));

}  // namespace

const PythonApi *g_api;

const PythonApi *python_api() {
  static PythonApi api;
  if (__atomic_load_n(&g_api, __ATOMIC_ACQUIRE)) return &api;
  python::Symbol symbols[kAll] = {GMT_PYTHON_API(GMT_NAME_OF) GMT_PYTHON_API_OPTIONAL(GMT_NAME_OF)};
  python::find_symbols(symbols, kAll);
  void *addresses[kAll];
  for (size_t i = 0; i < kAll; i++) {
    if (i < kRequired && !symbols[i].address) return nullptr;
    addresses[i] = symbols[i].address;
  }
  memcpy(static_cast<void *>(&api), addresses, sizeof api);
  __atomic_store_n(&g_api, &api, __ATOMIC_RELEASE);
  return &api;
}

Py *none() {
  g_api->hold(g_api->none);
  return g_api->none;
}

uint64_t number_of(Py *value) {
  const uint64_t number = g_api->as_number(value);
  if (number == ~0ull) g_api->error_clear();
  return number;
}

}  // namespace gmt::inject
