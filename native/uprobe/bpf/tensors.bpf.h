#pragma once
// What PyTorch's allocator reports.
#include "calls.bpf.h"

#define DEVICE_TYPE_CUDA 1  // c10::DeviceType::CUDA

/// Queues what the framework's allocator reports. `bytes` < 0: freed.
/// `row` 1: a USDT probe.
GMT_INLINE void put_tensor(struct pt_regs *ctx, uint8_t type, uint8_t row, uint16_t device, uint64_t address,
                           int64_t bytes, uint64_t reserved, uint64_t allocated) {
  struct gmt_here here;
  if (!recording || !gmt_find_thread(&here, true)) return;
  struct gmt_up_tensor about = {};
  if (!gmt_begin_event(&here, &about.head, type, row)) return;
  about.head.flags = device;
  about.address = address;
  about.bytes = bytes;
  about.reserved = reserved;
  about.allocated = allocated;
  // Where blocks are freed is told by a sample, as the in-process tracer does.
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
  uint16_t device = report == GMT_UP_REPORT ? fifth : report == GMT_UP_REPORT_OLD ? third : fourth;
  if ((device & 0xff) != DEVICE_TYPE_CUDA) return 0;
  if (report == GMT_UP_REPORT_OOM)
    put_tensor(ctx, GMT_UP_TENSOR_OOM, 0, device, 0, first, ~0ull, ~0ull);
  else if (second != 0)
    put_tensor(ctx, GMT_UP_TENSOR, 0, device, first, second, report == GMT_UP_REPORT ? fourth : ~0ull,
               report == GMT_UP_REPORT ? third : ~0ull);
  return 0;
}

GMT_MAP(ARRAY, GMT_UP_MOST_USDT, uint32_t, struct gmt_up_usdt, gmt_usdt);

GMT_INLINE int64_t usdt_argument(struct pt_regs *ctx, const struct gmt_up_usdt_argument *argument) {
  uint64_t value = argument->value;
  if (argument->kind != GMT_UP_USDT_CONSTANT) {
    uint64_t place = (uint64_t)(argument->reg & 31) * 8;
    uint64_t content = 0;
    bpf_probe_read_kernel(&content, sizeof content, (const char *)ctx + place);
    value = content;
    if (argument->kind == GMT_UP_USDT_MEMORY)
      bpf_probe_read_user(&value, sizeof value, (const void *)(content + argument->value));
  }
  uint32_t shift = 64 - 8 * (argument->bytes & 15);
  value <<= shift & 63;
  return argument->is_signed ? (int64_t)value >> (shift & 63) : (int64_t)(value >> (shift & 63));
}

SEC("uprobe")
int usdt_report(struct pt_regs *ctx) {
  uint32_t place = bpf_get_attach_cookie(ctx);
  const struct gmt_up_usdt *probe = bpf_map_lookup_elem(&gmt_usdt, &place);
  if (!probe) return 0;
  uint64_t address = usdt_argument(ctx, &probe->arguments[0]);
  if (probe->frees) {
    put_tensor(ctx, GMT_UP_TENSOR, 1, GMT_UP_DEVICE_UNKNOWN, address, -1, ~0ull, ~0ull);
  } else {
    uint16_t device = DEVICE_TYPE_CUDA | usdt_argument(ctx, &probe->arguments[1]) << 8;
    put_tensor(ctx, GMT_UP_TENSOR, 1, device, address, usdt_argument(ctx, &probe->arguments[2]), ~0ull, ~0ull);
  }
  return 0;
}
