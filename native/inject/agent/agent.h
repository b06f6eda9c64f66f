#pragma once
// The agent in the interpreter: steps, collections, names, who holds what. Its Python code runs on a thread of the tracer's own, so
// that the program's trace functions, signal handlers and exceptions have nothing to do with it. It gets its turn while a thread of
// the program waits for it at a safe point: the main thread between two instructions (Py_AddPendingCall), any thread at the end of a
// training step or of the program.
#include "inject/log/log.h"

namespace gmt::inject {

/// A log begins (also in a forked child): the tracer's thread is started where there is a Python for it. GPU_MEMTRACE_AGENT=0 says
/// no.
GMT_COLD void start_agent(Thread &thread);

}  // namespace gmt::inject
