#include "inject/hooks/driver_wrap.h"

#include <dlfcn.h>
#include <string.h>

#include "cuda/driver_calls.h"
#include "inject/hooks/cupti_library.h"
#include "inject/hooks/driver_layer.h"
#include "inject/hooks/elf.h"
#include "inject/log/log.h"

extern "C" {
__attribute__((visibility("hidden"))) void *(*gmt_dlsym_real)(void *, const char *);
__attribute__((visibility("hidden"))) void *gmt_dlsym_choice(void *handle, const char *name);
}

namespace gmt::inject {
namespace {

struct IpcHandle {
  char bytes[64];  // CUipcMemHandle travels by value, in memory
};

void *g_real[GMT_CALL_COUNT];
void *g_real_get_proc[2];  ///< cuGetProcAddress, cuGetProcAddress_v2
uint32_t g_decided;        ///< 0 = not yet, 1 = no, 2 = yes: this process is handed wrappers

void find_real_dlsym() {
  if (__atomic_load_n(&gmt_dlsym_real, __ATOMIC_ACQUIRE)) return;
  void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  __atomic_store_n(&gmt_dlsym_real, reinterpret_cast<void *(*)(void *, const char *)>(found), __ATOMIC_RELEASE);
}

/// Threads that look at the same time find the same.
void *found_once(void **slot, const char *name) {
  void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!found) __atomic_store_n(slot, found = find_symbol("libcuda.so", name), __ATOMIC_RELAXED);
  return found;
}

void *context_now() {
  static void *function;
  void *context = nullptr;
  if (void *get = found_once(&function, "cuCtxGetCurrent")) reinterpret_cast<int (*)(void **)>(get)(&context);
  return context;
}

struct Call {
  cuda::Params params;
  int result = 0;
  cuda::CallbackData data{};

  Call(int row, const uint64_t *arguments) : params(cuda::lay_out(cuda::kCalls[row], arguments)) {
    data.params = params.bytes;
    data.return_value = &result;
    if (!subscription()) data.context = context_now();
  }
  void report(int row, cuda::CuptiSite site, const void *frame) {
    if (subscription()) return;  // CUPTI sees this call
    data.site = site;
    on_driver_call(cuda::kCalls[row].cbid, data, frame);
    if (site == cuda::kSiteExit && result == 0) on_context_call(row, data.params);
  }
};

template <int Row>
int wrapped(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
  const uint64_t arguments[] = {a, b, c, d, e, f};
  Call call(Row, arguments);
  call.report(Row, cuda::kSiteEnter, __builtin_frame_address(0));
  call.result = reinterpret_cast<int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t)>(
      __atomic_load_n(&g_real[Row], __ATOMIC_RELAXED))(a, b, c, d, e, f);
  call.report(Row, cuda::kSiteExit, __builtin_frame_address(0));
  return call.result;
}

template <int Row>
int wrapped_ipc(uint64_t a, IpcHandle handle, uint64_t b) {
  const uint64_t arguments[] = {a, b};
  Call call(Row, arguments);
  call.report(Row, cuda::kSiteEnter, __builtin_frame_address(0));
  call.result = reinterpret_cast<int (*)(uint64_t, IpcHandle, uint64_t)>(
      __atomic_load_n(&g_real[Row], __ATOMIC_RELAXED))(a, handle, b);
  call.report(Row, cuda::kSiteExit, __builtin_frame_address(0));
  return call.result;
}

constexpr bool has_ipc_handle(const char *args) {
  for (; *args; args++)
    if (*args == cuda::kIpcHandle) return true;
  return false;
}

template <int Row, bool Ipc>
void *wrapper() {
  if constexpr (Ipc)
    return reinterpret_cast<void *>(&wrapped_ipc<Row>);
  else
    return reinterpret_cast<void *>(&wrapped<Row>);
}

void *wrapper_of(int row) {
  switch (row) {
#define X(name, cbid, kind, args, ...) \
  case GMT_CALL_##name:                \
    return wrapper<GMT_CALL_##name, has_ipc_handle(args)>();
    GMT_CALLS(X)
#undef X
    default:
      return nullptr;
  }
}

/// The wrapper where `real` is one of the table's functions, else `real`.
void *wrap_function(void *real) {
  for (int row = 0; row < GMT_CALL_COUNT; row++) {
    void *known = found_once(&g_real[row], cuda::kCalls[row].name);
    if (real && known == real) return wrapper_of(row);
  }
  return real;
}

int get_proc_address(const char *name, void **function, int version, uint64_t flags) {
  const int result = reinterpret_cast<int (*)(const char *, void **, int, uint64_t)>(g_real_get_proc[0])(
      name, function, version, flags);
  if (result == 0 && function) *function = wrap_function(*function);
  return result;
}

int get_proc_address_v2(const char *name, void **function, int version, uint64_t flags, void *status);

/// The program asks the driver for cuGetProcAddress itself that way too.
void *wrap_any(void *real) {
  if (real && real == g_real_get_proc[0]) return reinterpret_cast<void *>(&get_proc_address);
  if (real && real == g_real_get_proc[1]) return reinterpret_cast<void *>(&get_proc_address_v2);
  return wrap_function(real);
}

int get_proc_address_v2(const char *name, void **function, int version, uint64_t flags, void *status) {
  const int result = reinterpret_cast<int (*)(const char *, void **, int, uint64_t, void *)>(g_real_get_proc[1])(
      name, function, version, flags, status);
  if (result == 0 && function) *function = wrap_any(*function);
  return result;
}

/// Decided at the first look-up, before cuInit: a process that has libcupti mapped by then (PyTorch brings it) is left alone. In
/// the others it shows only at cuInit whether CUPTI works; the wrappers do nothing where it does.
bool wraps_lookups() {
  uint32_t decided = __atomic_load_n(&g_decided, __ATOMIC_ACQUIRE);
  if (decided == 0) {
    char path[8];
    decided = find_library("libcupti.so", path, sizeof path) ? 1 : 2;
    __atomic_store_n(&g_decided, decided, __ATOMIC_RELEASE);
  }
  return decided == 2;
}

/// A look-up in the driver: only libcuda's own functions are replaced, whoever else has one of that name.
void *wrapped_look_up(void *handle, const char *name) {
  void *real = gmt_dlsym_real(handle, name);
  if (!real || !wraps_lookups()) return nullptr;
  found_once(&g_real_get_proc[0], "cuGetProcAddress");
  found_once(&g_real_get_proc[1], "cuGetProcAddress_v2");
  void *choice = wrap_any(real);
  return choice == real ? nullptr : choice;
}

}  // namespace

void *real_dlsym(void *handle, const char *name) {
  find_real_dlsym();
  return gmt_dlsym_real ? gmt_dlsym_real(handle, name) : nullptr;
}

bool driver_is_wrapped() { return __atomic_load_n(&g_decided, __ATOMIC_ACQUIRE) == 2 && !subscription(); }

}  // namespace gmt::inject

// Called for every dlsym of the program: two characters decide nearly always.
void *gmt_dlsym_choice(void *handle, const char *name) {
  using namespace gmt::inject;
  find_real_dlsym();
  if (!name || name[0] != 'c' || name[1] != 'u' || !configured()) return nullptr;
  if (strncmp(name, "cupti", 5) == 0) return gmt_dlsym_real(handle, name) ? cupti_stand_in(name) : nullptr;
  return name[2] >= 'A' && name[2] <= 'Z' ? wrapped_look_up(handle, name) : nullptr;
}
