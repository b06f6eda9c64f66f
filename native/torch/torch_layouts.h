#pragma once
// Every private fact about PyTorch's memory that one of the tracers reads, in one place. Each is checked against others before it is
// believed; if they do not agree, nothing is reported.
//
//   type                                    | defined in                                    | seen in
//   ----------------------------------------|-----------------------------------------------|-------------------
//   torch::autograd::Node                   | torch/csrc/autograd/node.h or function.h      | 2.11, 2.13
#include <cstdint>

namespace gmt::torch {

/// torch::autograd::Node:
///
///   until it became intrusive (seen in 2.11): | vptr | weak_ptr 16 B      | sequence_nr_ | topological_nr_ | has_parent_ | thread_id_ |
///   since then (seen in 2.13):                | vptr | combined_refcount_ | sequence_nr_ | topological_nr_ | has_parent_ | thread_id_ |
struct NodeLayout {
  uint32_t sequence, thread;
};
constexpr NodeLayout kSharedNode{24, 48};
constexpr NodeLayout kIntrusiveNode{16, 40};

}  // namespace gmt::torch
