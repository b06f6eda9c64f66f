#pragma once
// What PyTorch's allocator holds, told by PyTorch itself: from Python 3.14 on an interpreter runs a script that is handed to it from
// outside (PEP 768, what sys.remote_exec does), at the next safe point of its main thread.
#include <sys/types.h>

#include <string>

#include "uprobe/before/torch.h"

namespace gmt::uprobe {

/// `directory`: open on the trace directory, where script and answer lie for that moment. False: it could not be had, because there is
/// no such interpreter, it does not allow it, it cannot see the directory, or it did not come to a safe point in time.
bool ask_interpreter(pid_t pid, int directory, BeforeMemory *out);

}  // namespace gmt::uprobe
