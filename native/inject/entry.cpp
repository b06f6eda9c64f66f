// How the library comes into a process: preloaded (LD_PRELOAD), and once more by the driver (CUDA_INJECTION64_PATH), which
// calls InitializeInjection inside cuInit. There is no constructor: a process that never touches CUDA pays the load alone.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inject/agent/agent.h"
#include "inject/hooks/autograd.h"
#include "inject/hooks/callers.h"
#include "inject/hooks/cupti_guest.h"
#include "inject/hooks/driver_layer.h"
#include "inject/hooks/elf.h"
#include "inject/hooks/tensor_layer.h"
#include "inject/job.h"
#include "inject/log/log.h"

namespace gmt::inject {
namespace {

uint32_t g_called;      ///< the driver called InitializeInjection
const char *g_chained;  ///< the tool that was called after us

/// The tool that CUDA_INJECTION64_PATH named before us gets its call too.
void call_chained() {
  const char *path = getenv("GPU_MEMTRACE_CHAIN");
  if (!path || !*path || strcmp(path, "none") == 0) return;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  int (*initialize)();
  if (!resolve(library, &initialize, "InitializeInjection")) return;
  initialize();
  g_chained = path;
}

}  // namespace

void forget_described() {
  forget_devices();
  forget_libraries();
}

void describe_process(Thread &thread) {
  write_job(thread);
  if (g_called) {
    describe_driver_layer(thread);
  } else {
    write_note(thread, GMT_NOTE_NO_CUPTI,
               "The CUDA driver did not load the tracer, so tensors are recorded, but driver allocations are not. "
               "CUDA_INJECTION64_PATH was changed or removed before this process started.");
  }
  if (g_log.lean)
    write_note(thread, GMT_NOTE_LEAN,
               "Recorded with --lean: backward-pass memory has the line of its backward() call.");
  if (g_chained) write_note(thread, GMT_NOTE_CHAINED, g_chained);
  start_agent(thread);
}

}  // namespace gmt::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace gmt::inject;
  if (__atomic_exchange_n(&g_called, 1, __ATOMIC_ACQ_REL)) return 1;
  if (configured()) {
    hook_tensor_layer_by_slots();
    hook_autograd_by_slots();
    hook_cupti_by_slots();
    start_driver_layer();
  }
  call_chained();
  return 1;
}
