#pragma once
// The life of the traced processes: they make processes, run other programs, load libraries, end.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "uprobe/attach/attachments.h"
#include "uprobe/attach/kernel_side.h"
#include "uprobe/attach/privileges.h"
#include "uprobe/python/interpreters.h"
#include "uprobe/run/options.h"
#include "uprobe/run/output_line.h"
#include "uprobe/run/ring_consumer.h"
#include "wire/clock.h"

namespace gmt::uprobe {

class ProcessLives {
 public:
  /// All of them outlive it.
  ProcessLives(const AttachOptions &options, const Rights &rights, KernelSide &kernel, Attachments &attachments,
               RingConsumer &consumer)
      : options_(options), rights_(rights), kernel_(kernel), attachments_(attachments), consumer_(consumer) {
    if (!options_.stacks) return;
    interpreters_.emplace(kernel_.interpreters_map(), [this](pid_t pid, const PythonTarget &target) {
      if (TracedProcess *process = consumer_.find_own(static_cast<uint32_t>(pid)))
        process->set_python(target.version, target.reason);
    });
  }

  /// The process that was named: records of it are known from now on.
  TracedProcess &begin(uint32_t host_pid, const ProcessInfo &info) {
    target_ = info;
    TracedProcess &process = follow(host_pid, info);
    add_interpreter(process);
    return process;
  }
  /// What BPF is to know of it.
  gmt_up_target target_value(const TracedProcess &process) const {
    gmt_up_target value{};
    value.pid = process.info().pid;
    value.children = options_.children;
    value.uid = rights_.root ? ~0u : rights_.user;
    value.interpreter = process.interpreter;
    return value;
  }
  void note_libraries(TracedProcess &process, const LibraryLook &found) {
    if (found.simulated) process.set_simulated();
    if (found.autograd_unreadable) process.set_autograd_unreadable();
    if (found.driver) process.set_gpus(opened_gpus(process.info().pid));
  }

  void handle(const gmt_up_process &about) {
    if (about.head.type == GMT_UP_FORK) return handle_fork(about);
    TracedProcess *process = consumer_.find(about.host_pid);
    if (!process) return;
    switch (about.head.type) {
      case GMT_UP_EXEC:
        return handle_exec(*process, about);
      case GMT_UP_EXIT:
        return handle_exit(*process, about);
      case GMT_UP_LIBRARIES:
        handle_libraries(*process);
        if (about.about) go_on(*process);
        return;
      case GMT_UP_ENDING:
        if (process->log().is_open()) process->mark(GMT_PROCESS_ENDING, about.head.time);
        return;
      default:
        return;
    }
  }
  /// Looks again at interpreters that were not ready.
  void poll_interpreters(uint64_t now_ns) {
    if (interpreters_ && interpreters_->next_poll_ns() <= now_ns) interpreters_->poll(now_ns);
  }
  void read_losses(TracedProcess &process) {
    gmt_up_target value;
    if (kernel_.read_target(process.host_pid(), &value)) count_losses(process, value.lost);
  }
  /// Ends that BPF could not report, because the ring was full.
  void find_ended() {
    std::vector<pollfd> waits;
    std::vector<uint32_t> host_pids;
    for (const auto &[host_pid, process] : consumer_.processes()) {
      waits.push_back({process->descriptor(), POLLIN, 0});
      host_pids.push_back(host_pid);
    }
    ::poll(waits.data(), waits.size(), 0);
    for (size_t i = 0; i < waits.size(); i++) {
      if (waits[i].fd >= 0 && waits[i].revents == 0) continue;
      TracedProcess &process = *consumer_.find(host_pids[i]);
      read_losses(process);
      kernel_.remove_target(host_pids[i]);
      finish(process, false);
    }
  }

 private:
  /// What is known of a process that may be gone already.
  static ProcessInfo info_of(uint32_t pid, uint32_t parent, const ProcessInfo &like) {
    if (const auto info = read_process(pid)) return *info;
    ProcessInfo info = like;
    info.pid = pid;
    info.parent_pid = parent;
    info.start = 0;
    return info;
  }
  static bool ended_in_order(uint32_t status) { return (status & 0x7f) == 0; }

  TracedProcess &follow(uint32_t host_pid, const ProcessInfo &info) {
    TracedProcess &process = consumer_.add(host_pid, info);
    if (options_.native_stacks)
      process.python().resolve_native_by(std::make_unique<NativeSymbols>(static_cast<pid_t>(info.pid)));
    return process;
  }
  void add_interpreter(TracedProcess &process) {
    if (!interpreters_) return;
    process.interpreter = interpreters_->add(static_cast<pid_t>(process.info().pid), monotonic_ns());
  }

  void handle_fork(const gmt_up_process &about) {
    TracedProcess *parent = consumer_.find_own(about.about);
    TracedProcess &child = follow(about.host_pid, info_of(about.pid, about.about, parent ? parent->info() : target_));
    if (parent) {
      child.inherit(*parent);
      if (interpreters_) interpreters_->add_child(static_cast<pid_t>(about.pid), child.interpreter);
    }
    OutputLine("process").number("pid", about.pid).print();
  }
  /// The process continues under its number, as another program: with a log of its own.
  void handle_exec(TracedProcess &before, const gmt_up_process &about) {
    count_losses(before, about.lost);
    if (interpreters_) interpreters_->remove(static_cast<pid_t>(about.pid), before.interpreter);
    const ProcessInfo info = info_of(about.pid, before.info().parent_pid, before.info());
    TracedProcess &after = follow(about.host_pid, info);  // ends `before`
    after.forget_losses(about.lost);
    add_interpreter(after);
    if (interpreters_) kernel_.set_interpreter(about.host_pid, after.interpreter);
    handle_libraries(after);
    if (about.about) go_on(after);
  }
  void handle_exit(TracedProcess &process, const gmt_up_process &about) {
    count_losses(process, about.lost);
    finish(process, about.about != GMT_UP_LEFT && ended_in_order(about.about));
  }
  void handle_libraries(TracedProcess &process) {
    const LibraryLook found = attachments_.attach_libraries(static_cast<pid_t>(process.info().pid));
    note_libraries(process, found);
    for (const std::string &path : found.fresh) OutputLine("library").text("path", path).print();
    process.python().libraries_changed();
    if (interpreters_) interpreters_->libraries_changed(process.interpreter, monotonic_ns());
  }
  /// It was stopped so that no call passes before the probes are in place.
  void go_on(const TracedProcess &process) const { ::kill(static_cast<pid_t>(process.info().pid), SIGCONT); }
  void finish(TracedProcess &process, bool in_order) {
    const uint32_t pid = process.info().pid;
    if (interpreters_) interpreters_->remove(static_cast<pid_t>(pid), process.interpreter);
    consumer_.end(process, in_order);
    OutputLine("exit").number("pid", pid).print();
  }
  void count_losses(TracedProcess &process, const uint64_t (&lost)[GMT_UP_LOSSES]) {
    const bool any = std::any_of(std::begin(lost), std::end(lost), [](uint64_t n) { return n != 0; });
    if (any) consumer_.open_log(process, monotonic_ns());
    process.handle_losses(lost);
  }

  const AttachOptions &options_;
  const Rights &rights_;
  KernelSide &kernel_;
  Attachments &attachments_;
  RingConsumer &consumer_;
  ProcessInfo target_;
  std::optional<PythonInterpreters> interpreters_;  ///< if stacks are recorded
};

}  // namespace gmt::uprobe
