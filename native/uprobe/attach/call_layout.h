#pragma once
// Driver calls between BPF and the call table: what BPF is to copy of each, and what the copies mean.
#include <cstddef>

#include "cuda/driver_calls.h"
#include "uprobe/bpf/ring.h"

namespace gmt::uprobe {

/// What BPF copies of this call.
gmt_up_row shape_of(const gmt_call &call);

/// Reads a call that BPF queued; `bytes` is the record's length. False: the record does not hold what it should.
bool read_queued_call(const gmt_up_call &record, size_t bytes, cuda::CallFacts *out);

}  // namespace gmt::uprobe
