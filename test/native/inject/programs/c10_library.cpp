// Stand-ins for PyTorch's libc10.so and libc10_cuda.so in each spelling that PyTorch 1.10 to 2.14 has. The one remembers what
// it is told, the other tells it through its import slots.
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

#if C10_SPELLING == 0  // unsigned totals
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define REPORT_OOM "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"
#else  // signed totals
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"
#define REPORT_OOM "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE"
#endif

EXPORT void c10_report(void *, int64_t, uint64_t, uint64_t, uint64_t) __asm__(REPORT);
EXPORT void c10_report_oom(int64_t, uint64_t, uint64_t, uint64_t) __asm__(REPORT_OOM);

#ifdef C10_ITSELF
EXPORT uint64_t c10_seen[6];
uint64_t c10_seen[6];  ///< the arguments of the last report, and how many there were

static void remember(uint64_t address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device) {
  const uint64_t seen[] = {address, static_cast<uint64_t>(bytes), allocated, reserved, device};
  for (int i = 0; i < 5; i++) c10_seen[i] = seen[i];
  c10_seen[5]++;
}
EXPORT void c10_report(void *address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device) {
  remember(reinterpret_cast<uint64_t>(address), bytes, allocated, reserved, device);
}
EXPORT void c10_report_oom(int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device) {
  remember(0, bytes, allocated, reserved, device);
}

#else
EXPORT void tell(void *address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device) {
  c10_report(address, bytes, allocated, reserved, device);
}
EXPORT void tell_oom(int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device) {
  c10_report_oom(bytes, allocated, reserved, device);
}
#endif
