// PyTorch's CPU tensors, reported as a GPU's: leaks can be judged on a real PyTorch without a GPU. Built against the headers
// of the PyTorch that it is loaded into, under the name by which the tracer knows the GPU's allocator. GMT_TORCH is that PyTorch's
// version, 213 for 2.13.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace {

constexpr size_t kRounding = 512;
constexpr size_t kSegment = 20 << 20;
const c10::Device kDevice(c10::kCUDA, 0);

/// What was counted since the first block; `sizes` and `live` of an account are what is left.
struct Counts {
  uint64_t allocations, allocated_bytes, most_blocks, most_bytes;
};

struct Account {
  std::mutex mutex;
  std::unordered_map<void *, size_t> sizes;
  size_t live = 0;
  size_t reserved = 0;
  size_t limit = ~size_t{0};
  Counts counts{};
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

[[noreturn]] void refuse(size_t bytes) {
#if GMT_TORCH >= 113
  c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(bytes), account.live, account.reserved, kDevice);
#endif
#if GMT_TORCH >= 113
  TORCH_CHECK_WITH(OutOfMemoryError, false, "out of memory: the limit of this allocator is reached");
#else
  TORCH_CHECK(false, "CUDA out of memory: the limit of this allocator is reached");
#endif
}

// Earlier releases have a constant allocate(), later ones have not: a class may have both.
class CpuAsGpu final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t wanted) const {
    if (wanted == 0) return {nullptr, nullptr, &give_back, c10::Device(c10::kCPU)};
    const size_t bytes = (wanted + kRounding - 1) / kRounding * kRounding;
    const std::lock_guard<std::mutex> lock(account.mutex);
    if (account.live + bytes > account.limit) refuse(bytes);
    void *block = nullptr;
    TORCH_CHECK(posix_memalign(&block, kRounding, bytes) == 0, "no memory");
    account.sizes[block] = bytes;
    account.live += bytes;
    while (account.reserved < account.live) account.reserved += kSegment;
    account.reserved = std::min(account.reserved, account.limit);
    Counts &counts = account.counts;
    counts.allocations++;
    counts.allocated_bytes += bytes;
    counts.most_blocks = std::max<uint64_t>(counts.most_blocks, account.sizes.size());
    counts.most_bytes = std::max<uint64_t>(counts.most_bytes, account.live);
    c10::reportMemoryUsageToProfiler(block, static_cast<int64_t>(bytes), account.live, account.reserved, kDevice);
    return {block, block, &give_back, c10::Device(c10::kCPU)};
  }
  c10::DataPtr allocate(size_t wanted) { return std::as_const(*this).allocate(wanted); }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void *to, const void *from, size_t bytes) const { memcpy(to, from, bytes); }
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

/// Four words: allocations, their bytes, the most blocks and the most bytes at once.
extern "C" void cpu_as_gpu_counted(uint64_t *words) {
  const std::lock_guard<std::mutex> lock(account.mutex);
  memcpy(words, &account.counts, sizeof account.counts);
}
