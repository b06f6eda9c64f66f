#pragma once
// What the program may do, and giving up all of it that it does not need. It runs as root, or with the capabilities of its file.
#include <sys/types.h>

namespace gmt::uprobe {

struct Rights {
  bool root = false;       ///< started as root: it may look into any process
  bool can_trace = false;  ///< CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN
  uid_t user = 0;          ///< whose processes it may look into, where not root
};

/// Before anything is read: gives up every capability that the tracer never needs, for ever, and keeps its memory from others.
Rights acquire_rights();

/// As root: becomes the owner of the trace directory, so that files belong to them, and keeps what is needed from here on:
/// probes, looking into processes of others (`foreign`), perf events (`perf`). False: the kernel refused.
bool settle_rights(uid_t owner, gid_t group, bool foreign, bool perf);

/// Goes before the program's threads from here on: what it does not get to before the ring is full is lost, and a fair share of busy
/// processors is too small for a burst. Without CAP_SYS_NICE this does nothing; the capability is given up.
void run_ahead();

}  // namespace gmt::uprobe
