// Reports allocations and frees as PyTorch's allocator does: endless EVENTS EVENTS_PER_SECOND. At the end one line of JSON: its own account.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Report = void(void *address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device);
constexpr char kReport[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
constexpr uint64_t kBatch = 10'000, kPlaces = 4'000, kDevice = 1;  // CUDA, 0

void *open(const std::string &library) {
  void *opened = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!opened) std::fprintf(stderr, "%s\n", dlerror()), std::exit(1);
  return opened;
}

}  // namespace

int main(int count, char **words) {
  if (count != 3) return std::fprintf(stderr, "endless EVENTS EVENTS_PER_SECOND\n"), 2;
  const auto wanted = static_cast<uint64_t>(std::atof(words[1]));
  const double rate = std::atof(words[2]);
  const char *folder = std::getenv("GPU_MEMTRACE_SIMULATOR");
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(open("libcuda.so.1"), "cuInit"));
  open(std::string(folder ? folder : ".") + "/allocator/libc10_cuda.so");  // and libc10.so with it
  auto *report = reinterpret_cast<Report *>(dlsym(RTLD_DEFAULT, kReport));
  if (!report || init(0) != 0) return std::fprintf(stderr, "No GPU, or no allocator.\n"), 1;
  std::vector<int64_t> live(kPlaces);
  const auto begun = Clock::now();
  uint64_t events = 0, allocations = 0, seed = 1;
  int64_t bytes = 0;
  while (events < wanted) {
    for (const uint64_t end = events + kBatch; events < end; ++events) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const uint64_t place = (seed >> 33) % kPlaces;
      const int64_t change = live[place] ? -live[place] : 512 << ((seed >> 50) % 8);
      live[place] += change;
      bytes += change;
      allocations += change > 0;
      report(reinterpret_cast<void *>((place + 1) << 20), change, 0, 1 << 30, kDevice);
    }
    std::this_thread::sleep_until(begun + std::chrono::duration<double>(static_cast<double>(events) / rate));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  std::printf("{\"events\": %llu, \"seconds\": %.1f, \"allocations\": %llu, \"frees\": %llu, \"liveBytes\": %lld}\n",
              static_cast<unsigned long long>(events), seconds, static_cast<unsigned long long>(allocations),
              static_cast<unsigned long long>(events - allocations), static_cast<long long>(bytes));
  return 0;
}
