#pragma once
// What the BPF programs and the program that loads them share about PyTorch's autograd: where its libraries keep things, and what a
// record has of a backward pass. C11, compiled by `clang -target bpf` and by C++.
#include <stdint.h>

/// Value of the map of PyTorch's libraries; the probes' cookies are places in it. Distances are from the probed instruction.
struct gmt_up_torch {
  int64_t counter_index;   ///< from the probe on the numbers to the library's tls_index for the thread's counter
  int64_t thread_index;    ///< the same for the thread's id
  int32_t counter_offset;  ///< of the counter behind what the tls_index names
  int32_t thread_offset;
  uint32_t node_sequence;  ///< offsets in torch::autograd::Node
  uint32_t node_thread;
};
#define GMT_UP_MOST_TORCHES 16

/// The node that runs on an allocation's thread.
struct gmt_up_running {
  uint64_t sequence;
  uint32_t thread;  ///< torch's id of the thread that made the node
  uint32_t role;    ///< enum gmt_autograd_role
};

#define GMT_NODE_DEPTH 8  ///< nodes that run inside of each other on one thread, and are still distinguished

/// A node's evaluation that began. Its frame lives until the caller's next call puts another return address in its place.
struct gmt_up_evaluation {
  uint64_t stack_pointer;
  uint64_t return_address;
  uint64_t node;
};

/// Of one thread.
struct gmt_up_autograd {
  struct gmt_up_evaluation evaluations[GMT_NODE_DEPTH];
  uint32_t depth;
  uint32_t library;         ///< place in the map of the library whose nodes run
  uint64_t counter_at;      ///< address of the thread's counter; 0 = not known yet
  uint64_t thread_at;       ///< address of its id; 0 = not known yet
  uint64_t nameless;        ///< number of the node that was reported when the thread had no id yet, + 1; 0 = none
  uint64_t nameless_stack;  ///< its Python stack
};
