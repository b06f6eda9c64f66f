#pragma once
// What a process held when the tracer came goes into its log, in front of everything else, marked as from before.
#include <cstdint>

#include "uprobe/attach/kernel_side.h"
#include "uprobe/session/recorder.h"

namespace gmt::uprobe {

/// To be called once recording is on (`recording`: it is), before any record is taken. Records that come meanwhile are taken at the end. The process's
/// log, in `directory`, gets a note that says what is known of before.
void recover_before(KernelSide &kernel, Recorder &recorder, uint32_t host_pid, int directory, bool recording);

}  // namespace gmt::uprobe
