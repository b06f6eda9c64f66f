#pragma once
#include <sys/types.h>

namespace gmt::addon {

/// A child of this process that does nothing but leave what is sent to all of this process group pending for a moment: the program gets that by
/// itself, and a signal's sender does not tell whom else it was sent to. Called with all signals blocked.
void start_group_witness();
void end_group_witness();
/// Whether a signal that came here was sent to the whole group. Safe in a signal handler.
bool came_to_group(int signal);

}  // namespace gmt::addon
