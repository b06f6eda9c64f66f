// The Python walk of the uprobe tracer at one probed function f(anything, number): queues the number, the stack, and how long
// the walk took.
#include "stacks.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

GMT_INLINE int probed(struct pt_regs *ctx) {
  struct gmt_here here;
  if (!gmt_find_thread(&here, true)) return 0;
  struct gmt_up_tensor about = {};
  if (!gmt_fill_head(&here, &about.head, GMT_UP_TENSOR, 0)) {
    gmt_lose(here.target, GMT_UP_LOST_RING);
    return 0;
  }
  uint64_t before = bpf_ktime_get_ns();
  about.head.stack = gmt_python_stack(ctx, &here);
  about.reserved = bpf_ktime_get_ns() - before;
  about.address = PT_REGS_PARM2(ctx);
  gmt_put_event(&here, &about, sizeof about);
  return 0;
}

SEC("uprobe.s")
int probed_may_sleep(struct pt_regs *ctx) { return probed(ctx); }

SEC("uprobe")
int probed_awake(struct pt_regs *ctx) { return probed(ctx); }
