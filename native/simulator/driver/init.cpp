// cuInit and what a program asks before it has a context.
#include <dlfcn.h>

#include "simulator/trace.h"

using namespace sim;

namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;

void after_fork_in_child() {
  pthread_mutex_init(&state.lock, nullptr);
  state.forked = state.ready;
}

void start() {
  Lock lock;
  read_settings(state.settings);
  if (state.settings.devices == 0) return;
  state.space.open();
  for (int i = 0; i < state.settings.devices; ++i) {
    Pool *pool = create_object<Pool>(Object::POOL);
    pool->device = i;
    state.devices[i].default_pool = pool;
  }
  pthread_atfork([] { pthread_mutex_lock(&state.lock); }, [] { pthread_mutex_unlock(&state.lock); },
                 after_fork_in_child);
  state.ready = true;
}

/// The driver's own entry for tools: loads the library that CUDA_INJECTION64_PATH names, once.
void inject() {
  static bool injected = false;
  if (__atomic_exchange_n(&injected, true, __ATOMIC_ACQ_REL)) return;
  const char *path = getenv("CUDA_INJECTION64_PATH");
  if (!path || !*path || strcmp(path, "none") == 0) return;
  void *library = dlopen(path, RTLD_NOW);
  auto initialize = library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
  if (initialize) initialize();
}

/// A question about a device: `answer` writes to the caller's places, which are `good`.
template <class Answer>
CUresult ask(bool good, CUdevice device, Answer answer) {
  return checked([&] {
    if (!good) return INVALID_VALUE;
    if (!valid_device(device)) return INVALID_DEVICE;
    answer();
    return SUCCESS;
  });
}

}  // namespace

SIM_EXPORT CUresult cuInit(unsigned flags) {
  if (flags) return INVALID_VALUE;
  if (state.forked) return NOT_INITIALIZED;
  pthread_once(&once, start);
  if (state.settings.devices == 0) return NO_DEVICE;
  inject();
  return SUCCESS;
}

SIM_DEFINE(checked, cuDeviceGetCount, (int *count), count) {
  if (!count) return INVALID_VALUE;
  *count = state.settings.devices;
  return SUCCESS;
}

SIM_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return ask(device, ordinal, [&] { *device = ordinal; });
}

SIM_EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return ask(name && length > 0, device, [&] {
    strncpy(name, state.settings.name, static_cast<size_t>(length) - 1);
    name[length - 1] = 0;
  });
}

SIM_EXPORT CUresult cuDeviceGetUuid_v2(unsigned char *uuid, CUdevice device) {
  return ask(uuid, device, [&] {
    memcpy(uuid, "gpu-memtrace-sim", 16);
    uuid[15] = static_cast<unsigned char>(device);
  });
}
SIM_EXPORT CUresult cuDeviceGetUuid(unsigned char *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

SIM_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  return ask(bytes, device, [&] { *bytes = state.settings.memory_bytes; });
}
