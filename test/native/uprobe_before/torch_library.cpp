// A libc10_cuda.so with the stand-in allocator in it, over whatever libcuda.so.1 and libc10.so the process has loaded before, and a C
// interface for ctypes.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "stand_in.h"

namespace c10 {
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
struct Device {
  DeviceType type;
  int8_t index;
};
void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device);
}  // namespace c10

namespace c10::cuda::CUDACachingAllocator {
using CUDAAllocator = stand_in::Base;
__attribute__((visibility("default"))) std::atomic<CUDAAllocator *> allocator;
}  // namespace c10::cuda::CUDACachingAllocator

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kDevices = 8;
using Report = void (*)(void *, int64_t, size_t, size_t, c10::Device);

template <class Function>
Function find(const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (!symbol) std::fprintf(stderr, "%s is not loaded\n", name), std::abort();
  return reinterpret_cast<Function>(symbol);
}

struct Driver {
  int (*alloc)(uint64_t *, size_t) = find<int (*)(uint64_t *, size_t)>("cuMemAlloc_v2");
  int (*free)(uint64_t) = find<int (*)(uint64_t)>("cuMemFree_v2");
  int (*set)(void *) = find<int (*)(void *)>("cuCtxSetCurrent");
  int (*device)(int *) = find<int (*)(int *)>("cuCtxGetDevice");
  int (*retain)(void **, int) = find<int (*)(void **, int)>("cuDevicePrimaryCtxRetain");
  Report report = find<Report>("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
  void *contexts[kDevices] = {};
};

Driver *driver;
stand_in::World world;
std::atomic<uint64_t> totals[kDevices], reserved_totals[kDevices];
std::atomic<bool> churns;
std::vector<std::thread> churners;

void make_world(int devices) {
  find<int (*)(unsigned)>("cuInit")(0);
  driver = new Driver();
  for (int i = 0; i < devices; i++) driver->retain(&driver->contexts[i], i);
  world.take_segment = [](uint64_t bytes, int device) {
    uint64_t address = 0;
    driver->set(driver->contexts[device]);
    int current = -1;  // CUDA's runtime asks all the time
    if (driver->device(&current) != 0 || current != device) std::abort();
    if (driver->alloc(&address, bytes) != 0) std::abort();
    return address;
  };
  world.give_segment = [](uint64_t address) { driver->free(address); };
  world.report = [](uint64_t address, int64_t bytes, uint64_t allocated, uint64_t reserved, int device) {
    totals[device] = allocated;
    reserved_totals[device] = reserved;
    driver->report(reinterpret_cast<void *>(address), bytes, allocated, reserved,
                   {c10::DeviceType::CUDA, static_cast<int8_t>(device)});
  };
}

/// Takes and gives back, and keeps a few to the end.
void churn(uint32_t seed, int devices) {
  std::mt19937 random(seed);
  std::vector<uint64_t> live;
  stand_in::Base *allocator = c10::cuda::CUDACachingAllocator::allocator;
  while (churns) {
    if (live.size() > 200 || (!live.empty() && random() % 2)) {
      const size_t which = random() % live.size();
      allocator->free(live[which]);
      live[which] = live.back();
      live.pop_back();
    } else {
      live.push_back(allocator->allocate(1 + random() % (random() % 16 ? 50000 : 4000000),
                                         static_cast<int>(random() % static_cast<uint32_t>(devices))));
    }
  }
}

/// Of an allocator without books, as cudaMallocAsync's.
class CudaMallocAsyncAllocator : public stand_in::Base {
  uint64_t allocate(uint64_t, int) override { return 0; }
  void free(uint64_t) override {}
};

}  // namespace

EXPORT void before_start(int version, int devices) {
  make_world(devices);
  stand_in::Base *made = nullptr;
  switch (version) {
    case 0:
      made = new stand_in::Native<stand_in::OldBlock>(&world, devices);
      break;
    case 1:
      made = new stand_in::Native<stand_in::MiddleBlock>(&world, devices);
      break;
    case 2:
      made = new stand_in::Native<stand_in::NewBlock>(&world, devices);
      break;
    default:
      made = new CudaMallocAsyncAllocator();
  }
  c10::cuda::CUDACachingAllocator::allocator = made;
}
EXPORT uint64_t before_allocate(uint64_t bytes, int device) {
  return c10::cuda::CUDACachingAllocator::allocator.load()->allocate(bytes, device);
}
EXPORT void before_free(uint64_t address) { c10::cuda::CUDACachingAllocator::allocator.load()->free(address); }
EXPORT uint64_t before_allocated(int device) { return totals[device]; }
EXPORT uint64_t before_reserved(int device) { return reserved_totals[device]; }
EXPORT void before_churn(int threads, int devices) {
  churns = true;
  for (int i = 0; i < threads; i++) churners.emplace_back(churn, static_cast<uint32_t>(i) + 1, devices);
}
EXPORT void before_calm() {
  churns = false;
  for (std::thread &thread : churners) thread.join();
  churners.clear();
}
