#pragma once
// The table of calls.h as data, and how to read one call's arguments out of CUPTI's parameter struct.
#include <stdint.h>

#include "cuda/calls.h"

namespace gmt::cuda {

extern const gmt_call kCalls[GMT_CALL_COUNT];

/// Row of the call with this CUPTI callback id, -1 = none.
int call_of_cbid(uint32_t cbid);

/// What one call did, read from its arguments.
struct CallFacts {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
  uint64_t object = 0;
  uint64_t offset = 0;
  int32_t device = -1;  ///< where the arguments name it, else -1: the context's
  uint8_t kind = 0;     ///< enum gmt_kind; 0: nothing that concerns memory (a graph node of another type)
};

/// In `gmt_call::args`: CUipcMemHandle, 64 bytes that travel by value, in memory.
constexpr char kIpcHandle = 'H';

/// CUPTI's parameter struct of a call.
struct Params {
  alignas(8) char bytes[128];
};
/// With these arguments, of all but the IPC handle.
Params lay_out(const gmt_call &call, const uint64_t *arguments);

/// Reads the arguments. `after`: the call has returned with success, so results may be read; before that (and after a failed
/// call) only what was passed in. `params` is laid out as a C struct of the arguments.
CallFacts read_call(const gmt_call &call, const void *params, bool after);

/// True where the address is known before the call and the call ends it: recorded at entry, undone if it failed.
bool ends_memory(uint8_t kind);

}  // namespace gmt::cuda
