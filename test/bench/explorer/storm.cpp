// Allocates and frees through the driver at a given rate: storm EVENTS_PER_SECOND SECONDS
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kBatch = 1000;

template <typename Function>
Function *call(void *driver, const char *name) {
  void *found = dlsym(driver, name);
  if (!found) std::fprintf(stderr, "The driver has no %s.\n", name), std::exit(1);
  return reinterpret_cast<Function *>(found);
}

}  // namespace

int main(int count, char **words) {
  if (count != 3) return std::fprintf(stderr, "storm EVENTS_PER_SECOND SECONDS\n"), 2;
  const double rate = std::atof(words[1]);
  const double seconds = std::atof(words[2]);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return std::fprintf(stderr, "No libcuda.so.1 here.\n"), 1;
  auto *allocate = call<int(uint64_t *, size_t)>(driver, "cuMemAlloc_v2");
  auto *release = call<int(uint64_t)>(driver, "cuMemFree_v2");
  void *context = nullptr;
  call<int(unsigned)>(driver, "cuInit")(0);
  call<int(void **, int)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0);
  call<int(void *)>(driver, "cuCtxSetCurrent")(context);
  const auto begun = Clock::now();
  uint64_t events = 0;
  for (; std::chrono::duration<double>(Clock::now() - begun).count() < seconds; events += 2 * kBatch) {
    for (int i = 0; i < kBatch; i++) {
      uint64_t address = 0;
      allocate(&address, 4096);
      release(address);
    }
    std::this_thread::sleep_until(begun + std::chrono::duration<double>(static_cast<double>(events) / rate));
  }
  const double took = std::chrono::duration<double>(Clock::now() - begun).count();
  std::printf("%llu events in %.2f s: %.2f M/s\n", static_cast<unsigned long long>(events), took,
              static_cast<double>(events) / took / 1e6);
  std::fflush(stdout);
  _Exit(0);
}
