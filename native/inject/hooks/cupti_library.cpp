#include "inject/hooks/cupti_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "inject/hooks/elf.h"
#include "wire/taken.h"

namespace gmt::inject {
namespace {

cuda::Cupti g_cupti;
char g_path[4096];
uint32_t g_found, g_resolving;

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
  if (__atomic_load_n(&g_found, __ATOMIC_ACQUIRE)) return &g_cupti;
  if (!gmt_take(&g_resolving)) return nullptr;
  const bool found = __atomic_load_n(&g_found, __ATOMIC_ACQUIRE) || resolve_functions();
  __atomic_store_n(&g_found, found, __ATOMIC_RELEASE);
  gmt_give(&g_resolving);
  return found ? &g_cupti : nullptr;
}

const char *cupti_path() { return g_path; }

}  // namespace gmt::inject
