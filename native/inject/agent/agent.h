#pragma once
// The agent in the interpreter: steps, collections, names, holders. Its Python code runs on a thread of the tracer's own, so
// that the program's trace functions, signal handlers and exceptions have nothing to do with it. It gets its turn while a thread of
// the program waits at a safe point: the main thread between two instructions, any thread at the end of a step or of the program.
#include "inject/agent/object_table.h"
#include "inject/log/log.h"

namespace gmt::inject {

/// A log begins (also in a forked child): starts the tracer's thread where there is a Python for it and GPU_MEMTRACE_AGENT is not 0.
GMT_COLD void start_agent(Thread &thread);

// What only that thread does.

struct Request : MappedArray<char> {
  /// Ended by NUL; null: there is none.
  const char *text() const { return capacity() ? &(*this)[0] : nullptr; }
};

/// Reads the next request to this process, of the files `request-<number>.json` in the trace directory, which are numbered from 1 up over
/// all processes; looks into the directory only where that has changed.
void next_request(Request &request);

/// Writes a GMT_MEMORY for each GPU that this process uses, where one is due: what the GPU itself says that this process holds, by
/// NVML, about once a second while memory events come in. NVML is opened when it is first needed.
void sample_memory();

/// After a fork: a child begins with none.
void forget_memory();

}  // namespace gmt::inject
