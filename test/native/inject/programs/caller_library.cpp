// Calls the driver, by itself or through functions of another such library. Built several times: with and without frame pointers
// and unwind tables.
#include <alloca.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdint>
#include <cstring>
#include <thread>

namespace {
uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}
}  // namespace

extern "C" {
using Take = int (*)(uint64_t bytes, uint64_t depth);
using Allocate = int (*)(uint64_t *, size_t);

/// Asks the driver for memory; the result of the call.
int take(uint64_t bytes, uint64_t) {
  static Allocate allocate;
  if (!allocate) allocate = reinterpret_cast<Allocate>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAlloc_v2"));
  uint64_t address = 0;
  return allocate(&address, bytes);
}

/// The same, from a function that lies `depth` frames deeper.
__attribute__((noinline)) int take_deep(uint64_t bytes, uint64_t depth) {
  static volatile Take deeper = take_deep;
  volatile int result = depth == 0 ? take(bytes, 0) : deeper(bytes, depth - 1);
  return result;
}

/// The same, from a function whose frame is realigned and has no fixed size.
int take_aligned(uint64_t bytes, uint64_t depth) {
  alignas(64) volatile char aligned[64];
  auto *more = static_cast<volatile char *>(alloca(16 + depth));
  aligned[0] = 0;
  more[0] = 0;
  return take(bytes, 0) + aligned[0] + more[0];
}

/// The same, from code that no library holds.
int take_generated(uint64_t bytes, uint64_t) {
#if defined(__x86_64__)
  // push %rbp; movabs $take, %rax; call *%rax; pop %rbp; ret
  unsigned char code[] = {0x55, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
  const Take inner = take_deep;
  memcpy(code + 3, &inner, sizeof inner);
  void *at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return -1;
  memcpy(at, code, sizeof code);
  return reinterpret_cast<Take>(at)(bytes, 2);
#else
  return take(bytes, 0);
#endif
}

/// The same, from a thread of its own, which runs no Python.
int take_on_thread(uint64_t bytes, uint64_t depth) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = nullptr;
  reinterpret_cast<int (*)(void **)>(dlsym(driver, "cuCtxGetCurrent"))(&context);
  int result = -1;
  std::thread([&] {
    reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"))(context);
    result = take_deep(bytes, depth);
  }).join();
  return result;
}

/// cuMemAlloc_v2 from 20 frames deeper.
__attribute__((noinline)) int allocate_deep(uint64_t *address, size_t bytes) {
  static volatile Allocate deeper = allocate_deep;
  static Allocate allocate;
  static thread_local uint32_t depth;
  if (!allocate) allocate = reinterpret_cast<Allocate>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAlloc_v2"));
  if (depth == 20) return allocate(address, bytes);
  depth++;
  volatile int result = deeper(address, bytes);
  depth--;
  return result;
}

/// Nanoseconds that one allocation takes: the least mean of `rounds` rounds of 1000 allocations, each freed again.
uint64_t cost(Allocate allocate, int (*release)(uint64_t), uint64_t rounds) {
  uint64_t least = ~0ull, addresses[1000];
  for (uint64_t round = 0; round < rounds; round++) {
    const uint64_t begin = now_ns();
    for (uint64_t &address : addresses)
      if (allocate(&address, 512) != 0) return 0;
    const uint64_t took = (now_ns() - begin) / 1000;
    if (took < least) least = took;
    for (const uint64_t address : addresses) release(address);
  }
  return least;
}

/// Calls a function of another library.
int take_through(Take through, uint64_t bytes, uint64_t depth) {
  volatile int result = through(bytes, depth);
  return result;
}
}
