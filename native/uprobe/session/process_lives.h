#pragma once
// The life of the traced processes: they make processes, run other programs, load libraries, end.
#include <memory>
#include <optional>

#include "uprobe/attach/attachments.h"
#include "uprobe/attach/kernel_side.h"
#include "uprobe/attach/privileges.h"
#include "uprobe/python/interpreters.h"
#include "uprobe/session/options.h"
#include "uprobe/session/recorder.h"

namespace gmt::uprobe {

class ProcessLives {
 public:
  /// All of them outlive it.
  ProcessLives(const AttachOptions &options, const Rights &rights, KernelSide &kernel, Attachments &attachments,
               Recorder &recorder);

  /// The process that was named: records of it are known from now on.
  Process &begin(uint32_t host_pid, const ProcessInfo &info);
  /// What BPF is to know of it.
  gmt_up_target target_value(const Process &process) const;
  void note_libraries(Process &process, const LibraryLook &found);

  /// A record about the life of one.
  void handle(const gmt_up_process &about);
  /// Looks again at interpreters that were not ready.
  void poll_interpreters(uint64_t now_ns);
  void read_losses(Process &process);
  /// Ends that BPF could not tell, because the ring was full.
  void find_ended();

 private:
  Process &follow(uint32_t host_pid, const ProcessInfo &info);
  void add_interpreter(Process &process);

  void handle_fork(const gmt_up_process &about);
  void handle_exec(Process &before, const gmt_up_process &about);
  void handle_exit(Process &process, const gmt_up_process &about);
  void handle_libraries(Process &process);
  void go_on(const Process &process) const;
  void finish(Process &process, bool in_order);
  void count_losses(Process &process, const uint64_t (&lost)[GMT_UP_LOSSES]);

  const AttachOptions &options_;
  const Rights &rights_;
  KernelSide &kernel_;
  Attachments &attachments_;
  Recorder &recorder_;
  ProcessInfo target_;
  std::optional<PythonInterpreters> interpreters_;  ///< where stacks are wanted
};

}  // namespace gmt::uprobe
