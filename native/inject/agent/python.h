#pragma once
// The agent's Python side (native/agent) inside the interpreter: its sources, which are part of this library, the functions
// that it may call here, and the calls into it. All of these need the GIL.
#include <stdint.h>

namespace gmt::inject {

/// Why the agent gets its turn.
enum class Turn : uint32_t { kAsked = 1, kStep = 2, kExit = 3 };

/// PyTorch, or another library with arrays on GPUs, has been imported, so that there is something for the agent to do.
bool library_imported();

/// Runs the sources' first part. False: it failed, and the log has the reason.
bool install_agent();

/// Gives the agent its turn. `request`: a request's JSON, else null. Gives the training step at which its next turn is due by
/// itself, ~0 for none, and in `again` whether it still waits for something of PyTorch.
uint64_t run_turn(Turn turn, uint64_t step, const char *request, bool *again);

/// Offers the agent a turn while the calling Python thread waits, without the GIL. False: it is busy, or there is none. (agent.cpp)
bool offer_turn(Turn turn, uint64_t step);

/// The interpreter is about to end: the agent's last turn, after which the tracer's thread keeps away from it. (agent.cpp)
void end_agent();

/// Number of the step at which the agent's next turn is due. (agent.cpp)
uint64_t next_turn_step();

}  // namespace gmt::inject
