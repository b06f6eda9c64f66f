#include "inject/hooks/driver_layer.h"

#include <stdio.h>
#include <string.h>

#include "cuda/cupti.h"
#include "cuda/driver_calls.h"
#include "inject/hooks/autograd.h"
#include "inject/hooks/callers.h"
#include "inject/hooks/cupti_guest.h"
#include "inject/hooks/cupti_library.h"
#include "inject/hooks/elf.h"
#include "inject/job.h"
#include "inject/log/stacks.h"
#include "wire/taken.h"

namespace gmt::inject {
namespace {

using cuda::CallFacts;

cuda::Subscriber g_subscriber;
uint32_t g_started, g_starting;
int g_refusal;  ///< what CUPTI answered when it did not let us
__thread uint32_t t_destroying __attribute__((tls_model("initial-exec")));  ///< inside a call that destroys a context

constexpr uint32_t kContexts = 256;
uint64_t g_contexts[kContexts];  ///< a context's address, and above it its device: together, as threads come at once
constexpr uint32_t kDeviceShift = 56;
uint64_t g_described[4];  ///< bit per device: its record is in the log

uint32_t query_device_of(void *context) {
  const cuda::Cupti *cupti = cupti_library();
  uint32_t device = GMT_DEVICE_NONE;
  const bool known = cupti && cupti->get_device_id && cupti->get_device_id(context, &device) == cuda::kCuptiSuccess;
  return known ? device : GMT_DEVICE_NONE;
}

void *context_in(uint64_t known) { return reinterpret_cast<void *>(known & ((1ull << kDeviceShift) - 1)); }

/// Device of a context: queried once. Its address may be used again for another device, so a destroyed one is forgotten.
uint32_t device_of(void *context) {
  if (!context) return GMT_DEVICE_NONE;
  const auto start = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context) >> 6) % kContexts;
  for (uint32_t i = 0; i < 8; i++) {
    const uint64_t known = __atomic_load_n(&g_contexts[(start + i) % kContexts], __ATOMIC_RELAXED);
    if (context_in(known) == context) return static_cast<uint32_t>(known >> kDeviceShift);
  }
  const uint32_t device = query_device_of(context);
  if (device >= GMT_DEVICE_NONE) return device;
  const uint64_t entry = reinterpret_cast<uintptr_t>(context) | uint64_t{device} << kDeviceShift;
  for (uint32_t i = 0; i < 8; i++) {
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&g_contexts[(start + i) % kContexts], &none, entry, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) ||
        none == entry)
      break;
  }
  return device;
}

void forget_context(void *context) {
  for (uint64_t &place : g_contexts) {
    const uint64_t known = __atomic_load_n(&place, __ATOMIC_RELAXED);
    if (context_in(known) == context) __atomic_store_n(&place, 0, __ATOMIC_RELAXED);
  }
}

/// Name and size of a device, queried from the driver at the end of a call of its own, once.
void describe_device(Thread &thread, uint32_t device) {
  if (device >= 256 || device == GMT_DEVICE_NONE) return;
  const uint64_t bit = 1ull << (device % 64);
  if (__atomic_fetch_or(&g_described[device / 64], bit, __ATOMIC_RELAXED) & bit) return;
  const auto name_of = reinterpret_cast<int (*)(char *, int, int)>(find_symbol("libcuda.so", "cuDeviceGetName"));
  const auto total_of = reinterpret_cast<int (*)(size_t *, int)>(find_symbol("libcuda.so", "cuDeviceTotalMem_v2"));
  char name[128] = {};
  size_t total = 0;
  if (name_of) name_of(name, sizeof name - 1, static_cast<int>(device));
  if (total_of) total_of(&total, static_cast<int>(device));
  const gmt_device_record record{device, static_cast<uint32_t>(strnlen(name, sizeof name)), total};
  write_side_record(thread, GMT_DEVICE, record, {name, record.name_bytes});
  const auto uuid_of = reinterpret_cast<int (*)(uint8_t *, int)>(find_symbol("libcuda.so", "cuDeviceGetUuid"));
  uint8_t uuid[16];
  if (uuid_of && uuid_of(uuid, static_cast<int>(device)) == 0) write_gpu(thread, device, uuid);
}

struct Slots {
  gmt_side_record detail;  // 16 bytes of head, 48 of payload
  char rest[32];
  gmt_event event;
};
static_assert(sizeof(Slots) == 3 * GMT_SLOT_BYTES);

bool allocates(uint8_t kind) {
  return (kind & ~GMT_FAILED) >= GMT_DEVICE_ALLOC && (kind & ~GMT_FAILED) <= GMT_GRAPH_ALLOC;
}

void write_driver_event(Thread &thread, const CallFacts &facts, const gmt_driver_detail &detail, uint8_t kind,
                        uint32_t device, uint32_t stack) {
  if (!ensure(thread, 8)) return;  // state and time base may come in between
  if (allocates(kind)) write_autograd(thread, stack != 0);
  const uint64_t ticks = stamp(thread);
  auto *slots = static_cast<Slots *>(reserve(thread, 3));
  if (!slots) return;
  slots->detail.kind = GMT_DRIVER_DETAIL;
  slots->detail.slots = 2;
  slots->detail.bytes = sizeof detail;
  memcpy(slots->detail.payload, &detail, sizeof detail);
  __atomic_store_n(&slots->detail.commit, GMT_SIDE_RECORD_BIT | thread.index, __ATOMIC_RELEASE);
  commit_event(thread, &slots->event, kind, static_cast<uint8_t>(device), facts.address, facts.bytes, stack,
               ticks < thread.base_ticks ? thread.base_ticks : ticks);
}

/// Host memory belongs to no device; else the arguments decide, else the current context.
uint32_t device_for(const CallFacts &facts, void *context) {
  if (gmt_is_host(facts.kind)) return GMT_DEVICE_NONE;
  return facts.device >= 0 ? static_cast<uint32_t>(facts.device) : device_of(context);
}

uint32_t caller_of(Thread &thread, uint8_t kind, const void *frame) {
  if (!allocates(kind)) return 0;
  const uint32_t library = calling_library(frame);
  describe_library(thread, library);
  return library;
}

void record(Thread &thread, int row, const CallFacts &facts, const cuda::CallbackData &data, uint8_t kind, int result,
            const void *frame) {
  bool ending = false;
  const uint32_t stack = python_stack(thread, &ending);
  if (ending) mark_ending(thread);
  const uint32_t device = device_for(facts, data.context);
  const gmt_driver_detail detail{static_cast<uint16_t>(row),
                                 0,
                                 result,
                                 facts.stream,
                                 facts.object,
                                 facts.offset,
                                 reinterpret_cast<uintptr_t>(data.context),
                                 caller_of(thread, kind, frame)};
  if (data.site == cuda::kSiteExit) describe_device(thread, device);
  write_driver_event(thread, facts, detail, kind, device, stack);
}

void at_enter(Thread &thread, int row, const cuda::CallbackData &data) {
  const CallFacts facts = cuda::read_call(cuda::kCalls[row], data.params, false);
  thread.pending_free = 0;
  if (!cuda::ends_memory(facts.kind) || facts.address == 0) return;
  record(thread, row, facts, data, facts.kind, 0, nullptr);
  thread.pending_free = facts.kind;
}

void at_exit_of(Thread &thread, int row, const cuda::CallbackData &data, const void *frame) {
  int result = 0;
  if (data.return_value) memcpy(&result, data.return_value, sizeof result);
  CallFacts facts = cuda::read_call(cuda::kCalls[row], data.params, result == 0);
  if (facts.kind == 0) return;
  if (cuda::ends_memory(facts.kind)) {
    if (result == 0 || thread.pending_free != facts.kind) return;
    facts.bytes = facts.kind;
    record(thread, row, facts, data, GMT_FREE_UNDONE, result, nullptr);
    thread.pending_free = 0;
    return;
  }
  record(thread, row, facts, data, static_cast<uint8_t>(result == 0 ? facts.kind : facts.kind | GMT_FAILED), result,
         frame);
}

bool destroys_context(uint8_t kind) { return kind == GMT_CONTEXT_DESTROY || kind == GMT_DEVICE_RESET; }

/// One side of one driver call, seen by the function whose frame (__builtin_frame_address(0)) `frame` is.
void on_driver_call(uint32_t cbid, const cuda::CallbackData &data, const void *frame) {
  const int row = cuda::call_of_cbid(cbid);
  if (row < 0) return;
  const uint8_t kind = cuda::kCalls[row].kind;
  if (destroys_context(kind)) {  // the context's end itself is reported in the resource domain, however it comes
    t_destroying = data.site == cuda::kSiteEnter ? 1 : 0;
    return;
  }
  if (data.site == cuda::kSiteEnter && !cuda::ends_memory(kind)) return;
  Thread &thread = t_thread;
  if (!enter(thread)) return;
  if (data.site == cuda::kSiteEnter)
    at_enter(thread, row, data);
  else
    at_exit_of(thread, row, data, frame);
  leave(thread);
}

void on_context_end(void *context) {
  Thread &thread = t_thread;
  if (!enter(thread)) return;
  bool ending = false;
  python_stack(thread, &ending);
  // A context that the program did not destroy goes because the process does.
  if (ending || !t_destroying) mark_ending(thread);
  write_event(thread, GMT_CONTEXT_DESTROY, static_cast<uint8_t>(device_of(context)),
              reinterpret_cast<uintptr_t>(context), 0, 0);
  forget_context(context);
  leave(thread);
}

void on_callback(void *, uint32_t domain, uint32_t id, const void *data) {
  if (is_ours(domain, id)) {
    if (domain == cuda::kDomainDriver) {
      on_driver_call(id, *static_cast<const cuda::CallbackData *>(data), __builtin_frame_address(0));
    } else if (id == cuda::kContextDestroyStarting) {
      on_context_end(static_cast<const cuda::ResourceData *>(data)->context);
    }
  }
  pass_to_guest(domain, id, data);
}

int enable_ours(const cuda::Cupti &cupti) {
  int enabled = 0;
  for (const gmt_call &call : cuda::kCalls)  // an older libcupti refuses the ids that it does not know
    if (cupti.enable_callback(1, g_subscriber, cuda::kDomainDriver, call.cbid) == cuda::kCuptiSuccess) enabled++;
  cupti.enable_callback(1, g_subscriber, cuda::kDomainResource, cuda::kContextDestroyStarting);
  return enabled;
}

void write_missing(Thread &thread) {
  char text[900];
  if (g_refusal == cuda::kCuptiMultipleSubscribers)
    snprintf(text, sizeof text,
             "Another tool uses CUPTI, so tensors are recorded, but driver allocations are not. Run without the other "
             "tool.");
  else if (g_refusal != 0)
    snprintf(text, sizeof text,
             "CUPTI at %s failed (error %d), so tensors are recorded, but driver allocations are not.", cupti_path(),
             g_refusal);
  else
    snprintf(
        text, sizeof text,
        "libcupti was not found, so tensors are recorded, but driver allocations are not. Install the Python package "
        "nvidia-cuda-cupti-cu12 (CUDA 12) or nvidia-cuda-cupti (CUDA 13), or the CUDA toolkit, or set the "
        "library's path in GPU_MEMTRACE_CUPTI.");
  write_note(thread, g_refusal == cuda::kCuptiMultipleSubscribers ? GMT_NOTE_CUPTI_TAKEN : GMT_NOTE_NO_CUPTI, text);
}

}  // namespace

bool is_ours(uint32_t domain, uint32_t id) {
  if (domain == cuda::kDomainDriver) return cuda::call_of_cbid(id) >= 0;
  return domain == cuda::kDomainResource && id == cuda::kContextDestroyStarting;
}

void *subscription() { return __atomic_load_n(&g_started, __ATOMIC_ACQUIRE) ? g_subscriber : nullptr; }

bool start_driver_layer() {
  if (__atomic_load_n(&g_started, __ATOMIC_ACQUIRE)) return true;
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti || !gmt_take(&g_starting)) return false;
  if (!__atomic_load_n(&g_started, __ATOMIC_ACQUIRE)) {
    g_refusal = cupti->subscribe(&g_subscriber, on_callback, nullptr);
    const bool done = g_refusal == cuda::kCuptiSuccess && enable_ours(*cupti) > 0;
    __atomic_store_n(&g_started, done, __ATOMIC_RELEASE);
    if (done) hook_cupti_by_exports(*cupti);
  }
  gmt_give(&g_starting);
  return __atomic_load_n(&g_started, __ATOMIC_ACQUIRE);
}

void forget_devices() { memset(g_described, 0, sizeof g_described); }

void describe_driver_layer(Thread &thread) {
  const bool on = subscription() != nullptr;
  if (on) {
    char text[900];
    uint32_t version = 0;
    if (cupti_library()->get_version) cupti_library()->get_version(&version);
    snprintf(text, sizeof text, "CUPTI %u at %s", version, cupti_path());
    write_note(thread, GMT_NOTE_CUPTI_PATH, text);
  } else {
    write_missing(thread);
  }
  g_log.file->driver_source = on ? GMT_DRIVER_CUPTI : GMT_DRIVER_NONE;
  g_log.file->simulated = find_symbol("libcuda.so", "gpu_memtrace_simulator") != nullptr;
}

}  // namespace gmt::inject
