// cuInit and what a program asks before it has a context.
#include <dlfcn.h>

#include <cerrno>
#include <cstdio>

#include "simulator/trace.h"

using namespace sim;

namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;

void complain(const char *variable, const char *value, const char *wanted) {
  fprintf(stderr, "simulated GPU: %s=%s is not %s; the default is used\n", variable, value, wanted);
}

bool parse_number(const char *text, uint64_t &value, const char **rest) {
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  char *end;
  value = strtoull(text, &end, 10);
  *rest = end;
  return errno == 0;
}

bool parse_bytes(const char *text, uint64_t &bytes) {
  const char *unit;
  if (!parse_number(text, bytes, &unit)) return false;
  static const struct {
    const char *name;
    uint64_t bytes;
  } units[] = {{"", 1},    {"B", 1},   {"KiB", KIB}, {"MiB", MIB},    {"GiB", GIB},      {"K", KIB},
               {"M", MIB}, {"G", GIB}, {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}};
  for (const auto &known : units) {
    if (strcasecmp(unit, known.name) == 0) return !__builtin_mul_overflow(bytes, known.bytes, &bytes);
  }
  return false;
}

void read_settings(Settings &settings) {
  settings.memory_bytes = 24 * GIB;
  settings.name = "Simulated GPU";
  const char *rest;
  uint64_t number;
  if (const char *value = getenv("GPU_MEMTRACE_SIM_DEVICES")) {
    if (parse_number(value, number, &rest) && !*rest && number <= 64) {
      settings.devices = static_cast<int>(number);
    } else {
      complain("GPU_MEMTRACE_SIM_DEVICES", value, "a number from 0 to 64");
    }
  }
  if (const char *value = getenv("GPU_MEMTRACE_SIM_MEMORY")) {
    if (parse_bytes(value, number) && number >= PAGE && number <= 1024 * GIB) {
      settings.memory_bytes = number / PAGE * PAGE;
    } else {
      complain("GPU_MEMTRACE_SIM_MEMORY", value, "a size from 2MiB to 1024GiB, such as 24GiB");
    }
  }
  if (const char *value = getenv("GPU_MEMTRACE_SIM_NAME")) settings.name = strdup(value);
}

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
