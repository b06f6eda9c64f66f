// PyTorch's CPU tensors, reported as a GPU's: leaks can be judged on a real PyTorch without a GPU. Built against the headers
// of the PyTorch that it is loaded into, under the name by which the tracer knows the GPU's allocator.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace {

constexpr size_t kRounding = 512;
constexpr size_t kSegment = 20 << 20;
const c10::Device kDevice(c10::kCUDA, 0);

struct Account {
  std::mutex mutex;
  std::unordered_map<void *, size_t> sizes;
  size_t live = 0;
  size_t reserved = 0;
  size_t limit = ~size_t{0};
} account;

void give_back(void *block) {
  if (block == nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(account.mutex);
    const auto entry = account.sizes.find(block);
    const size_t bytes = entry->second;
    account.sizes.erase(entry);
    account.live -= bytes;
    c10::reportMemoryUsageToProfiler(block, -static_cast<int64_t>(bytes), account.live, account.reserved, kDevice);
  }
  free(block);
}

class CpuAsGpu final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t wanted) override {
    if (wanted == 0) return {nullptr, nullptr, &give_back, c10::Device(c10::kCPU)};
    const size_t bytes = (wanted + kRounding - 1) / kRounding * kRounding;
    const std::lock_guard<std::mutex> lock(account.mutex);
    if (account.live + bytes > account.limit) {
      c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(bytes), account.live, account.reserved, kDevice);
      TORCH_CHECK_WITH(OutOfMemoryError, false, "out of memory: the limit of this allocator is reached");
    }
    void *block = nullptr;
    TORCH_CHECK(posix_memalign(&block, kRounding, bytes) == 0, "no memory");
    account.sizes[block] = bytes;
    account.live += bytes;
    while (account.reserved < account.live) account.reserved += kSegment;
    c10::reportMemoryUsageToProfiler(block, static_cast<int64_t>(bytes), account.live, account.reserved, kDevice);
    return {block, block, &give_back, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void *to, const void *from, size_t bytes) const override { default_copy_data(to, from, bytes); }
} allocator;

}  // namespace

/// From here on tensors come from this allocator; `most` bytes at once, 0 = no limit.
extern "C" void cpu_as_gpu(size_t most) {
  if (most != 0) account.limit = most;
  c10::SetCPUAllocator(&allocator, 200);
}

/// All blocks that are handed out, address and bytes of up to `room`; gives how many there are.
extern "C" int cpu_as_gpu_blocks(uint64_t *words, size_t room) {
  const std::lock_guard<std::mutex> lock(account.mutex);
  size_t at = 0;
  for (const auto &[block, bytes] : account.sizes) {
    if (at++ >= room) continue;
    *words++ = reinterpret_cast<uintptr_t>(block);
    *words++ = bytes;
  }
  return static_cast<int>(account.sizes.size());
}

extern "C" uint64_t cpu_as_gpu_reserved() {
  const std::lock_guard<std::mutex> lock(account.mutex);
  return account.reserved;
}
