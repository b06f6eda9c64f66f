// A libcuda.so.1 whose calls do what a real one's may: call each other, be left by a jump, and know contexts that were chosen long
// ago. Addresses count up from 4096.
#include <csetjmp>
#include <cstddef>
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
uint64_t g_next = 4096;
thread_local void *t_context;
int g_devices[8];  // contexts are pointers into it: the place is the device
}  // namespace

EXPORT std::jmp_buf odd_way_out;
std::jmp_buf odd_way_out;

EXPORT int cuInit(unsigned) { return 0; }

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  if (bytes == 13) std::longjmp(odd_way_out, 1);
  *address = g_next += 4096;
  return 0;
}

/// By way of another exported call.
EXPORT int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned) { return cuMemAlloc_v2(address, bytes); }

EXPORT int cuMemFree_v2(uint64_t) { return 0; }

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &g_devices[device];
  return 0;
}
EXPORT int cuCtxSetCurrent(void *context) {
  t_context = context;
  return 0;
}
EXPORT int cuCtxGetCurrent(void **context) {
  *context = t_context;
  return 0;
}
EXPORT int cuCtxGetDevice(int *device) {
  if (!t_context) return 201;
  *device = static_cast<int>(static_cast<int *>(t_context) - g_devices);
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void *context) { return cuCtxSetCurrent(context); }
