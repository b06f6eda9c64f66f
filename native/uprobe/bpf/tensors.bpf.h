#pragma once
// What PyTorch's allocator reports.
#include "calls.bpf.h"

#define DEVICE_TYPE_CUDA 1  // c10::DeviceType::CUDA

/// Queues what the framework's allocator reports. `bytes` < 0: freed.
GMT_INLINE void put_tensor(struct pt_regs *ctx, uint8_t type, uint16_t device, uint64_t address, int64_t bytes,
                           uint64_t reserved, uint64_t allocated) {
  struct gmt_here here;
  if (!recording || !gmt_find_thread(&here, true)) return;
  struct gmt_up_tensor about = {};
  if (!gmt_begin_event(&here, &about.head, type, 0)) return;
  about.head.flags = device;
  about.address = address;
  about.bytes = bytes;
  about.reserved = reserved;
  about.allocated = allocated;
  // Where blocks are freed is shown by a sample, as the in-process tracer does.
  bool frees = type == GMT_UP_TENSOR && bytes < 0;
  if (!frees)
    about.head.stack = stack_of_begin(ctx, &here, &about.node);
  else if (here.state->frees++ % 8 == 0)
    about.head.stack = stack_of(ctx, &here);
  else if (want_stacks && gmt_python_ending(&here))
    tell_ending(here.target);
  gmt_put_event(&here, &about, sizeof about);
}

SEC("uprobe")
int tensor_report(struct pt_regs *ctx) {
  uint32_t report = bpf_get_attach_cookie(ctx);
  uint64_t first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx), third = PT_REGS_PARM3(ctx);
  uint64_t fourth = PT_REGS_PARM4(ctx), fifth = PT_REGS_PARM5(ctx);
  barrier_var(first);  // else the compiler chooses between places in ctx, which the verifier forbids
  barrier_var(second);
  barrier_var(third);
  barrier_var(fourth);
  barrier_var(fifth);
  uint16_t device = report == GMT_UP_REPORT ? fifth : fourth;
  if ((device & 0xff) != DEVICE_TYPE_CUDA) return 0;
  if (report == GMT_UP_REPORT_OOM)
    put_tensor(ctx, GMT_UP_TENSOR_OOM, device, 0, first, ~0ull, ~0ull);
  else if (second != 0)
    put_tensor(ctx, GMT_UP_TENSOR, device, first, second, fourth, third);
  return 0;
}
