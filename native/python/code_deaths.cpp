#include "python/code_deaths.h"

#include <sys/mman.h>

#include "python/interpreter.h"
#include "python/mix.h"

namespace gmt::python {

[[gnu::section(".gmt_hot_state")]] constinit std::atomic<uint64_t> code_deaths{0};

namespace {

constexpr uint32_t kTypeFree = 48;  // PyTypeObject.tp_dealloc
constexpr uint32_t kAddresses =
    1u << 20;  // 16 MB that are touched as they fill; the log has room for fewer code objects

struct Address {
  std::atomic<uintptr_t> code;  ///< 0: free; never taken away
  std::atomic<uint64_t> deaths;
};
constinit Address *addresses = nullptr;
using Free = void (*)(void *code);
constinit Free original_free = nullptr;

/// Where the address is, or would be; null: the table is full.
Address *find(const void *code) {
  const auto key = reinterpret_cast<uintptr_t>(code);
  const auto first = static_cast<uint32_t>(fold(key, kMixA));
  for (uint32_t i = 0; i < kAddresses; i++) {
    Address &at = addresses[(first + i) & (kAddresses - 1)];
    const uintptr_t found = at.code.load(std::memory_order_acquire);
    if (found == key || found == 0) return &at;
  }
  return nullptr;
}

/// Stands in the type's slot. Its address is free for another one only behind this.
void free_code(void *code) {
  Address *at = find(code);
  if (at && at->code.load(std::memory_order_relaxed) != 0) {
    at->deaths.fetch_add(1, std::memory_order_relaxed);
    code_deaths.fetch_add(1, std::memory_order_release);
    const void *module_call = code;
    interpreter.module_call.compare_exchange_strong(module_call, nullptr);
  }
  return original_free(code);
}

}  // namespace

bool watch_code_deaths(const void *code_type) {
  auto *slot = reinterpret_cast<Free *>(reinterpret_cast<uintptr_t>(code_type) + kTypeFree);
  original_free = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!original_free) return false;
  void *room = mmap(nullptr, kAddresses * sizeof(Address), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  addresses = static_cast<Address *>(room);
  __atomic_store_n(slot, &free_code, __ATOMIC_RELEASE);
  return true;
}

void watch_code(const void *code) {
  const auto key = reinterpret_cast<uintptr_t>(code);
  for (Address *at = find(code); at; at = find(code)) {
    uintptr_t found = 0;
    if (at->code.compare_exchange_strong(found, key) || found == key) return;
  }
}

uint64_t deaths_at_address(const void *code) {
  const Address *at = find(code);
  return at && at->code.load(std::memory_order_relaxed) != 0 ? at->deaths.load(std::memory_order_relaxed) : 0;
}

}  // namespace gmt::python
