#pragma once
// The place of this process in a job of many: from the launcher's environment variables, and the host.
#include "inject/log/log.h"

namespace gmt::inject {

/// Writes lines NAME=value: `host`, and what launchers of ranks are known to set; extension/protocol/rank.ts reads them.
void write_job(Thread &thread);

/// `GPU-…`, as nvidia-smi and CUDA_VISIBLE_DEVICES have it: `kind`, and the device's id.
void uuid_text(const char *kind, const uint8_t uuid[16], char (&text)[48]);

/// Writes `gpu<device>=GPU-…`, and `allocator=…` where PyTorch's allocator has settings.
void write_gpu(Thread &thread, uint32_t device, const uint8_t uuid[16]);

}  // namespace gmt::inject
