#include "inject/hooks/cupti_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "inject/hooks/driver_wrap.h"
#include "inject/hooks/elf.h"

namespace gmt::inject {
namespace {

cuda::Cupti g_cupti;
char g_path[4096];
uint32_t g_state;  ///< 0 = none yet, 1 = resolving, 2 = resolved

void *open_mapped() {
  return find_library("libcupti.so", g_path, sizeof g_path) ? dlopen(g_path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
}

void *open_named(const char *name) {
  if (!name || !*name) return nullptr;
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle && !find_library("libcupti.so", g_path, sizeof g_path)) {
    strncpy(g_path, name, sizeof g_path - 1);
  }
  return handle;
}

void *open_any() {
  void *handle = open_mapped();
  if (!handle) handle = open_named(getenv("GPU_MEMTRACE_CUPTI"));
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char *name : names)
    if (!handle) handle = open_named(name);
  return handle;
}

bool resolve_functions() {
  void *handle = open_any();
  if (!handle) return false;
  resolve(handle, &g_cupti.subscribe, "cuptiSubscribe");
  resolve(handle, &g_cupti.subscribe_v2, "cuptiSubscribe_v2");
  resolve(handle, &g_cupti.unsubscribe, "cuptiUnsubscribe");
  resolve(handle, &g_cupti.enable_callback, "cuptiEnableCallback");
  resolve(handle, &g_cupti.enable_domain, "cuptiEnableDomain");
  resolve(handle, &g_cupti.get_callback_state, "cuptiGetCallbackState");
  resolve(handle, &g_cupti.get_version, "cuptiGetVersion");
  resolve(handle, &g_cupti.get_device_id, "cuptiGetDeviceId");
  resolve(handle, &g_cupti.finalize, "cuptiFinalize");
  return g_cupti.subscribe && g_cupti.enable_callback;
}

}  // namespace

const cuda::Cupti *cupti_library() {
  uint32_t state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  if (state == 2) return &g_cupti;
  if (state == 1 || !__atomic_compare_exchange_n(&g_state, &state, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return nullptr;
  const bool found = resolve_functions();
  __atomic_store_n(&g_state, found ? 2 : 0, __ATOMIC_RELEASE);
  return found ? &g_cupti : nullptr;
}

const char *cupti_path() { return g_path; }

}  // namespace gmt::inject
