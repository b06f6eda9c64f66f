#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject/agent/agent.h"
#include "inject/agent/records.h"
#include "inject/hooks/elf.h"
#include "inject/job.h"

namespace gmt::inject {
namespace {

// nvml.h, as far as it is used: nvmlMemory_t, nvmlMemory_v2_t, nvmlProcessInfo_t (of the functions that end in _v2 and _v3).
struct MemoryInfo {
  unsigned long long total, free, used;
};
/// `reserved` is the driver's own; the older struct counts it as used, as if other processes had it.
struct MemoryInfo2 {
  unsigned version = sizeof(MemoryInfo2) | 2u << 24;
  unsigned long long total = 0, reserved = 0, free = 0, used = 0;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
using NvmlDevice = void *;
constexpr unsigned kMostProcesses = 256, kDevices = 64;
constexpr uint64_t kPeriod = 1'000'000'000;  // ns

struct Nvml {
  int (*initialize)();
  int (*by_uuid)(const char *, NvmlDevice *);
  int (*memory)(NvmlDevice, MemoryInfo *);
  int (*memory2)(NvmlDevice, MemoryInfo2 *);  ///< null before driver 510
  int (*processes)(NvmlDevice, unsigned *, ProcessInfo *);
};
struct Cuda {
  int (*count)(int *);
  int (*uuid)(unsigned char *, int);
  int (*context)(int, unsigned *, int *);
};
enum : uint32_t { kNotTried, kReady, kAbsent };

Nvml g_nvml;
Cuda g_cuda;
uint32_t g_state;
NvmlDevice g_devices[kDevices];
uint64_t g_sampled_at, g_sequence;
uint32_t g_busy;  ///< 1 while a sample is taken, 2 once the process ends: then NVML's library may be gone

template <class Function>
bool resolve_driver(Function *function, const char *name) {
  *function = reinterpret_cast<Function>(find_symbol("libcuda.so", name));
  return *function != nullptr;
}

/// The process ends: waits until a sample that is being taken is done, and lets none begin.
void stop_sampling() {
  for (int i = 0; i < 200; i++) {
    uint32_t idle = 0;
    if (__atomic_compare_exchange_n(&g_busy, &idle, 2, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    usleep(1000);
  }
}

bool open_nvml() {
  if (!resolve_driver(&g_cuda.count, "cuDeviceGetCount") ||
      !resolve_driver(&g_cuda.context, "cuDevicePrimaryCtxGetState"))
    return false;
  if (!resolve_driver(&g_cuda.uuid, "cuDeviceGetUuid_v2") && !resolve_driver(&g_cuda.uuid, "cuDeviceGetUuid"))
    return false;
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library || !resolve(library, &g_nvml.initialize, "nvmlInit_v2") ||
      !resolve(library, &g_nvml.by_uuid, "nvmlDeviceGetHandleByUUID") ||
      !resolve(library, &g_nvml.memory, "nvmlDeviceGetMemoryInfo"))
    return false;
  resolve(library, &g_nvml.memory2, "nvmlDeviceGetMemoryInfo_v2");
  if (!resolve(library, &g_nvml.processes, "nvmlDeviceGetComputeRunningProcesses_v3"))
    resolve(library, &g_nvml.processes, "nvmlDeviceGetComputeRunningProcesses_v2");
  if (g_nvml.initialize() != 0) return false;
  static bool watched;
  if (!watched) atexit(stop_sampling);  // after NVML was loaded, so that it runs before NVML's own end
  watched = true;
  return true;
}

/// NVML's name for a device of the driver; null: it has none.
NvmlDevice device_of(int ordinal) {
  NvmlDevice &device = g_devices[ordinal];
  unsigned char id[16];
  if (device || g_cuda.uuid(id, ordinal) != 0) return device;
  static const char *const kinds[] = {"GPU", "MIG"};
  for (const char *kind : kinds) {
    char text[48];
    uuid_text(kind, id, text);
    if (g_nvml.by_uuid(text, &device) == 0) return device;
    device = nullptr;
  }
  return nullptr;
}

/// Bytes of this process; ~0: NVML does not report it (another process namespace, MIG, WSL).
uint64_t process_bytes(NvmlDevice device) {
  static ProcessInfo found[kMostProcesses];
  unsigned count = kMostProcesses;
  if (!g_nvml.processes || g_nvml.processes(device, &count, found) != 0) return ~0ull;
  uint64_t bytes = ~0ull;
  for (unsigned i = 0; i < count && i < kMostProcesses; i++) {
    if (found[i].pid != static_cast<unsigned>(getpid()) || found[i].used == ~0ull) continue;
    bytes = (bytes == ~0ull ? 0 : bytes) + found[i].used;
  }
  return bytes;
}

bool memory_of(NvmlDevice device, MemoryInfo *info) {
  MemoryInfo2 more;
  if (!g_nvml.memory2 || g_nvml.memory2(device, &more) != 0) return g_nvml.memory(device, info) == 0;
  *info = {more.total - more.reserved, more.free, more.used};
  return true;
}

void sample_device(int ordinal) {
  unsigned flags = 0;
  int active = 0;
  if (g_cuda.context(ordinal, &flags, &active) != 0 || !active) return;
  NvmlDevice device = device_of(ordinal);
  MemoryInfo info{};
  if (!device || !memory_of(device, &info)) return;
  const gmt_memory memory{
      ticks_of(g_log.clock), process_bytes(device), info.used, info.total, static_cast<uint32_t>(ordinal), 0};
  write_memory(memory);
}

void sample_devices() {
  if (g_state == kNotTried) g_state = open_nvml() ? kReady : kAbsent;
  int count = 0;
  if (g_state != kReady || g_cuda.count(&count) != 0) return;
  for (int i = 0; i < count && i < static_cast<int>(kDevices); i++) sample_device(i);
}

}  // namespace

void sample_memory() {
  if (g_state == kAbsent || !log_generation()) return;
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  const uint64_t sequence = __atomic_load_n(&g_log.file->next_sequence, __ATOMIC_RELAXED);
  if (now - g_sampled_at < kPeriod || sequence == g_sequence) return;
  uint32_t idle = 0;
  if (!__atomic_compare_exchange_n(&g_busy, &idle, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  g_sampled_at = now;
  g_sequence = sequence;
  sample_devices();
  __atomic_store_n(&g_busy, 0, __ATOMIC_RELEASE);
}

void forget_memory() {
  g_state = kNotTried;
  g_sampled_at = g_sequence = 0;
  g_busy = 0;
  for (auto &device : g_devices) device = nullptr;
}

}  // namespace gmt::inject
