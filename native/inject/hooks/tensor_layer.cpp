#include "inject/hooks/tensor_layer.h"

#include <stdint.h>

#include "inject/hooks/autograd.h"
#include "inject/hooks/elf.h"
#include "inject/log/stacks.h"

namespace gmt::inject {
namespace {

constexpr uint8_t kDeviceTypeCuda = 1;              // c10::DeviceType::CUDA
GMT_HOT_STATE uint64_t g_reserved[kTensorDevices];  ///< what the log has; each report is under the allocator's lock

/// c10::Device is two int8: the type in the low byte, the index in the high one.
struct Device {
  uint8_t type, index;
};

Device unpack(uint64_t device) { return {static_cast<uint8_t>(device), static_cast<uint8_t>(device >> 8)}; }

void write_reserved(Thread &thread, uint8_t device, uint64_t reserved) {
  if (device >= kTensorDevices || g_reserved[device] == reserved) return;
  __atomic_store_n(&g_reserved[device], reserved, __ATOMIC_RELAXED);  // other threads read it (reserved_bytes)
  write_event(thread, GMT_RESERVED, device, 0, reserved, 0);
}

[[gnu::always_inline]] inline uint32_t stack_of(Thread &thread, uint32_t (*python)(Thread &, bool *)) {
  bool ending = false;
  const uint32_t stack = python(thread, &ending);
  if (__builtin_expect(ending, 0)) mark_ending(thread);
  return stack;
}

/// Where a site's blocks are freed is shown by a sample: frees are half of all events. A long run needs fewer of them.
uint32_t free_stack_of(Thread &thread) {
  constexpr uint64_t kLong = 1 << 16;  // events of the process
  constexpr uint8_t kEvery = 8, kEveryOfLong = 32;
  const uint64_t events = __atomic_load_n(&g_log.file->next_sequence, __ATOMIC_RELAXED);
  if (thread.frees++ % (events < kLong ? kEvery : kEveryOfLong) == 0) return stack_of(thread, python_stack);
  if (__builtin_expect(python::finalizing(), 0)) mark_ending(thread);
  return 0;
}

/// Recording may wait for the allocator to hold so much.
GMT_COLD void wake_above(uint64_t reserved) {
  if (log_generation() && asleep()) wakes(g_log.control->start_reserved, reserved);
}

GMT_HOT void report(void *address, int64_t bytes, uint64_t reserved, uint64_t packed) {
  const Device device = unpack(packed);
  if (device.type != kDeviceTypeCuda || bytes == 0) return;
  Thread &thread = t_thread;
  if (!enter(thread)) return wake_above(reserved);
  const uint32_t stack = bytes > 0 ? stack_of(thread, python_stack_in_order) : free_stack_of(thread);
  // State, reserved mark, event and the time bases they may need, all in one chunk: the state holds for the event.
  if (ensure(thread, 8)) {
    if (bytes > 0) write_autograd(thread, stack != 0);
    write_reserved(thread, device.index, reserved);
    write_event(thread, bytes > 0 ? GMT_TENSOR_ALLOC : GMT_TENSOR_FREE, device.index,
                reinterpret_cast<uintptr_t>(address), static_cast<uint64_t>(bytes > 0 ? bytes : -bytes), stack);
  }
  leave(thread);
}

void report_oom(int64_t bytes, uint64_t packed) {
  const Device device = unpack(packed);
  Thread &thread = t_thread;
  if (device.type != kDeviceTypeCuda || !enter(thread)) return;
  const uint32_t stack = stack_of(thread, python_stack);
  if (ensure(thread, 8)) {
    write_autograd(thread, stack != 0);
    write_event(thread, GMT_TENSOR_OOM, device.index, 0, static_cast<uint64_t>(bytes), stack);
  }
  leave(thread);
}

/// PyTorch's own function of this name, found once libc10 is mapped.
template <class Function>
Function real(Function *slot, const char *name) {
  Function found = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (__builtin_expect(!found, 0)) {
    found = reinterpret_cast<Function>(find_symbol("libc10.so", name));
    __atomic_store_n(slot, found, __ATOMIC_RELAXED);
  }
  return found;
}

}  // namespace

// The spellings of PyTorch 1.10 to 2.14; all have (pointer, ±bytes, allocated, reserved, device) in the same registers. Out of
// memory: (bytes, allocated, reserved, device).
#define GMT_REPORT(name)                                                                      \
  extern "C" GMT_HOT __attribute__((visibility("default"))) void name(                        \
      void *address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device) { \
    using Function = void (*)(void *, int64_t, uint64_t, uint64_t, uint64_t);                 \
    GMT_HOT_STATE static Function original;                                                   \
    report(address, bytes, reserved, device);                                                 \
    if (Function f = real(&original, #name)) f(address, bytes, allocated, reserved, device);  \
  }
#define GMT_REPORT_OOM(name)                                                                                \
  extern "C" GMT_HOT __attribute__((visibility("default"))) void name(int64_t bytes, uint64_t allocated,    \
                                                                      uint64_t reserved, uint64_t device) { \
    using Function = void (*)(int64_t, uint64_t, uint64_t, uint64_t);                                       \
    GMT_HOT_STATE static Function original;                                                                 \
    report_oom(bytes, device);                                                                              \
    if (Function f = real(&original, #name)) f(bytes, allocated, reserved, device);                         \
  }

GMT_REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE)
GMT_REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE)
GMT_REPORT_OOM(_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE)
GMT_REPORT_OOM(_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE)

uint64_t reserved_bytes(uint32_t device) {
  return device < kTensorDevices ? __atomic_load_n(&g_reserved[device], __ATOMIC_RELAXED) : 0;
}

void hook_tensor_layer_by_slots() {
  static unsigned long long seen;
  const unsigned long long added = libraries_added();
  if (__atomic_exchange_n(&seen, added, __ATOMIC_RELAXED) == added) return;
  const KeptErrno kept;
  redirect_imports({
      GMT_IMPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE),
      GMT_IMPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE),
      GMT_IMPORT(_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE),
      GMT_IMPORT(_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE),
  });
}

}  // namespace gmt::inject
