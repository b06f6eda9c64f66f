#pragma once
// Reads the memory of a process where the system forbids the tracer to do so itself (Yama, for what is not its child).
// Loaded only where it is needed: it takes Linux 6.1.
#include "trace.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct gmt_up_read);
} gmt_read SEC(".maps");

/// The tracer walks over the threads of one process; the first one answers.
SEC("iter.s/task")
int read_memory(struct bpf_iter__task *ctx) {
  struct task_struct *task = ctx->task;
  uint32_t zero = 0;
  struct gmt_up_read *wish = bpf_map_lookup_elem(&gmt_read, &zero);
  if (!task || !wish || wish->done) return 0;
  uint32_t bytes = wish->bytes;
  if (bytes > GMT_UP_READ_BYTES) bytes = GMT_UP_READ_BYTES;
  wish->result = bpf_copy_from_user_task(wish->data, bytes, (const void *)wish->address, task, 0);
  wish->done = 1;
  return 0;
}
