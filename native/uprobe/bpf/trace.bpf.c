// The tracer's BPF programs.
#include "autograd.bpf.h"
#include "calls.bpf.h"
#include "memory.bpf.h"
#include "processes.bpf.h"
#include "tensors.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("uprobe")
int self_test(struct pt_regs *ctx) {
  struct gmt_up_head about = {.type = GMT_UP_SELF_TEST};
  about.flags = PT_REGS_PARM1(ctx);
  about.time = bpf_ktime_get_ns();
  bpf_ringbuf_output(&gmt_ring, &about, sizeof about, BPF_RB_FORCE_WAKEUP);
  return 0;
}
