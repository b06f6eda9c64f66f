// The simulated libc10_cuda.so: PyTorch's caching allocator, as far as memory goes, with a plain C interface for
// ctypes. It finds the driver at run time, so it works on the simulated driver and on a real one.
#include <dlfcn.h>

#include "caching_allocator.h"
#include "simulator/driver/driver_types.h"

using namespace sim;

namespace {

constexpr int MOST_DEVICES = 64;

struct Driver {
  int (*init)(unsigned);
  int (*device_count)(int *);
  int (*retain)(void **, int);
  int (*set_current)(void *);
  int (*get_current)(void **);
  int (*allocate)(uint64_t *, size_t);
  int (*release)(uint64_t);
} driver;

pthread_once_t once = PTHREAD_ONCE_INIT;
int device_count = 0;
void *contexts[MOST_DEVICES];
CachingAllocator allocators[MOST_DEVICES];

/// Makes the device's primary context current for one call.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    driver.get_current(&before_);
    changed_ = before_ != contexts[device];
    if (changed_) driver.set_current(contexts[device]);
  }
  ~OnDevice() {
    if (changed_ && before_) driver.set_current(before_);
  }

 private:
  void *before_ = nullptr;
  bool changed_;
};

int take(int device, uint64_t *address, uint64_t bytes) {
  OnDevice here(device);
  return driver.allocate(address, bytes);
}
int give(int device, uint64_t address) {
  OnDevice here(device);
  return driver.release(address);
}

template <class Function>
bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_driver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  return library && find(library, "cuInit", driver.init) && find(library, "cuDeviceGetCount", driver.device_count) &&
         find(library, "cuDevicePrimaryCtxRetain", driver.retain) &&
         find(library, "cuCtxSetCurrent", driver.set_current) && find(library, "cuCtxGetCurrent", driver.get_current) &&
         find(library, "cuMemAlloc_v2", driver.allocate) && find(library, "cuMemFree_v2", driver.release);
}

void start() {
  int count = 0;
  if (!find_driver() || driver.init(0) != 0 || driver.device_count(&count) != 0) return;
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  for (int i = 0; i < count; ++i) allocators[i].open(i, {take, give});
  device_count = count;
}

bool ready(int device) {
  pthread_once(&once, start);
  if (device < 0 || device >= device_count) return false;
  if (__atomic_load_n(&contexts[device], __ATOMIC_ACQUIRE)) return true;
  void *context = nullptr, *none = nullptr;
  if (driver.retain(&context, device) != 0) return false;
  __atomic_compare_exchange_n(&contexts[device], &none, context, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return true;
}

}  // namespace

/// Devices that can be used; 0 = no driver or no GPU.
SIM_EXPORT int sim_torch_device_count(void) {
  pthread_once(&once, start);
  return device_count;
}

/// Address of a block of at least `bytes`; null = out of memory, or no such device.
SIM_EXPORT void *sim_torch_alloc(int device, uint64_t bytes, uint64_t stream) {
  return ready(device) ? reinterpret_cast<void *>(allocators[device].allocate(bytes, stream)) : nullptr;
}

/// The same on the default stream, size first.
SIM_EXPORT void *sim_torch_empty(uint64_t bytes, int device) { return sim_torch_alloc(device, bytes, 0); }

/// 0 = freed, 1 = no block starts at `address`.
SIM_EXPORT int sim_torch_free(void *address) {
  for (int i = 0; i < device_count; ++i) {
    if (allocators[i].release(reinterpret_cast<uint64_t>(address))) return 0;
  }
  return 1;
}

/// Size of the block at `address`: what was asked for, rounded, or more where a rest was not worth splitting off.
SIM_EXPORT uint64_t sim_torch_block_bytes(void *address) {
  for (int i = 0; i < device_count; ++i) {
    if (uint64_t bytes = allocators[i].block_bytes(reinterpret_cast<uint64_t>(address))) return bytes;
  }
  return 0;
}

SIM_EXPORT void sim_torch_empty_cache(void) {
  for (int i = 0; i < device_count; ++i) allocators[i].empty_cache();
}

/// Fills struct AllocatorStats, 9 numbers: allocations, frees, live bytes, bytes ever allocated, bytes ever freed,
/// segments allocated, segments freed, reserved bytes, times out of memory. 0 = done, 1 = no such device.
SIM_EXPORT int sim_torch_stats(int device, uint64_t *out) {
  if (!out || !ready(device)) return 1;
  AllocatorStats stats = allocators[device].stats();
  memcpy(out, &stats, sizeof stats);
  return 0;
}
