#pragma once
// What the GPU itself says that this process holds, by NVML: about once a second while memory events come in. NVML is opened when it
// is first needed, and only on the tracer's own thread.

namespace gmt::inject {

/// Writes a GMT_MEMORY for each GPU that this process uses, where one is due.
void sample_memory();

/// After a fork: a child begins with none.
void forget_memory();

}  // namespace gmt::inject
