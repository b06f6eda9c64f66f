// A stand-in for libnvidia-ml.so.1: two GPUs, on which this process and another one hold memory. GMT_NVML_UNIT: how
// many bytes their unit is, GMT_NVML_OWN: how many of these the process holds, GMT_NVML_READ: a file that is there once it was read.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {
struct MemoryInfo {
  unsigned long long total, free, used;
};
struct MemoryInfo2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
int g_devices[2];
unsigned long long setting(const char *name, unsigned long long usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}
unsigned long long bytes(unsigned long long units) { return units * setting("GMT_NVML_UNIT", 1); }
}  // namespace

#define NVML extern "C" __attribute__((visibility("default"))) int

NVML nvmlInit_v2() { return 0; }

/// Takes the driver's names in the order in which they are asked for.
NVML nvmlDeviceGetHandleByUUID(const char *name, void **device) {
  static int next;
  if (std::strncmp(name, "GPU-", 4) != 0 || std::strlen(name) != 40 || next >= 2) return 6;
  *device = &g_devices[next++];
  return 0;
}

NVML nvmlDeviceGetMemoryInfo(void *, MemoryInfo *info) {
  *info = {bytes(8000), bytes(4900), bytes(3100)};
  return 0;
}

/// Of these 8,100 the driver itself has 100.
NVML nvmlDeviceGetMemoryInfo_v2(void *, MemoryInfo2 *info) {
  if (info->version != (sizeof(MemoryInfo2) | 2u << 24)) return 25;
  *info = {info->version, bytes(8100), bytes(100), bytes(5000), bytes(3000)};
  return 0;
}

NVML nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, ProcessInfo *found) {
  if (*count < 2) return 7;
  *count = 2;
  if (const char *file = std::getenv("GMT_NVML_READ")) close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  found[0] = {1, bytes(1700), 0, 0};
  found[1] = {static_cast<unsigned>(getpid()), bytes(setting("GMT_NVML_OWN", 1300)), 0, 0};
  return 0;
}
