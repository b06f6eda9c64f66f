#include "inject/agent/allocator.h"

#include "inject/agent/records.h"
#include "inject/hooks/tensor_layer.h"

namespace gmt::inject {
namespace {

constexpr uint64_t kShare = 2000;      ///< asking may take one part of so many of the time,
constexpr uint64_t kFirstShare = 400;  ///< and of so many at first: a short run is covered too
constexpr uint32_t kFirstReads = 32;
constexpr uint64_t kPeriod = 1'000'000'000;  ///< ns; without steps

Py *g_stats;
uint64_t g_due_ns;
uint32_t g_reads;
uint32_t g_has_steps;            ///< the tracer's thread looks at this
uint64_t g_read_at, g_sequence;  ///< and at these
uint64_t g_pools_due_ns, g_pools_reserved;

uint64_t reserved_on_all() {
  uint64_t sum = 0;
  for (uint8_t device = 0; device < kTensorDevices; device++) sum = sum * 31 + reserved_bytes(device);
  return sum;
}

/// `stats[name]["all"]["current"]`; false: this PyTorch has none.
bool current_bytes(Py *stats, const char *name, uint64_t *bytes) {
  Py *found = g_api->dict_get(stats, name);
  if (found) found = g_api->dict_get(found, "all");
  if (found) found = g_api->dict_get(found, "current");
  *bytes = found ? number_of(found) : ~0ull;
  return *bytes != ~0ull;
}

void read_figures(uint8_t device) {
  const Held number(g_api->number(device));
  gmt_allocator figures{};
  figures.sequence = newest_sequence();
  figures.device = device;
  const Held stats(number ? g_api->call(g_stats, static_cast<Py *>(number), nullptr) : nullptr);
  if (stats && current_bytes(stats, "allocated_bytes", &figures.allocated_bytes) &&
      current_bytes(stats, "active_bytes", &figures.active_bytes))
    write_allocator(figures);
}

void read_all(uint64_t now) {
  for (uint8_t device = 0; device < kTensorDevices; device++)
    if (reserved_bytes(device)) read_figures(device);
  const uint64_t end = clock_ns(CLOCK_MONOTONIC);
  g_due_ns = end + (end - now) * (g_reads < kFirstReads ? kFirstShare : kShare);
  g_reads++;
  __atomic_store_n(&g_read_at, end, __ATOMIC_RELAXED);
  __atomic_store_n(&g_sequence, newest_sequence(), __ATOMIC_RELAXED);
}

}  // namespace

void watch_allocator(Py *stats) {
  if (g_stats) return;
  g_api->hold(stats);
  __atomic_store_n(&g_stats, stats, __ATOMIC_RELEASE);
}

void read_allocator_at_step() {
  if (!g_stats) return;
  __atomic_store_n(&g_has_steps, 1, __ATOMIC_RELAXED);
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (now >= g_due_ns) read_all(now);
}

void read_allocator_without_steps() {
  if (g_stats && !g_has_steps) read_all(clock_ns(CLOCK_MONOTONIC));
}

bool allocator_due() {
  if (!__atomic_load_n(&g_stats, __ATOMIC_ACQUIRE) || !log_generation()) return false;
  if (__atomic_load_n(&g_has_steps, __ATOMIC_RELAXED)) return false;
  const uint64_t since = clock_ns(CLOCK_MONOTONIC) - __atomic_load_n(&g_read_at, __ATOMIC_RELAXED);
  return since >= kPeriod && newest_sequence() != __atomic_load_n(&g_sequence, __ATOMIC_RELAXED);
}

bool pools_due() {
  return log_generation() && !asleep() && reserved_on_all() != __atomic_load_n(&g_pools_reserved, __ATOMIC_RELAXED) &&
         clock_ns(CLOCK_MONOTONIC) >= __atomic_load_n(&g_pools_due_ns, __ATOMIC_RELAXED);
}

void pools_looked_at(uint64_t milliseconds) {
  constexpr uint64_t kPoolShare = 500, kMillisecond = 1'000'000;
  __atomic_store_n(&g_pools_reserved, reserved_on_all(), __ATOMIC_RELAXED);
  const uint64_t wait = kPeriod + milliseconds * kPoolShare * kMillisecond;
  __atomic_store_n(&g_pools_due_ns, clock_ns(CLOCK_MONOTONIC) + wait, __ATOMIC_RELAXED);
}

void forget_allocator() {
  g_pools_due_ns = g_pools_reserved = 0;
  g_has_steps = g_reads = 0;
  g_due_ns = g_read_at = g_sequence = 0;
}

}  // namespace gmt::inject
