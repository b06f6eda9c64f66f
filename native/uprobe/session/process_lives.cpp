#include "uprobe/session/process_lives.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "uprobe/session/say.h"
#include "wire/clock.h"

namespace gmt::uprobe {
namespace {

/// What is known of a process that may be gone already.
ProcessInfo info_of(uint32_t pid, uint32_t parent, const ProcessInfo &like) {
  if (const auto info = read_process(pid)) return *info;
  ProcessInfo info = like;
  info.pid = pid;
  info.parent_pid = parent;
  info.start = 0;
  return info;
}

bool ended_in_order(uint32_t status) { return (status & 0x7f) == 0; }

}  // namespace

ProcessLives::ProcessLives(const AttachOptions &options, const Rights &rights, KernelSide &kernel,
                           Attachments &attachments, Recorder &recorder)
    : options_(options), rights_(rights), kernel_(kernel), attachments_(attachments), recorder_(recorder) {
  if (!options_.stacks) return;
  interpreters_.emplace(kernel_.interpreters_map(), [this](pid_t pid, const PythonTarget &target) {
    if (Process *process = recorder_.find_own(static_cast<uint32_t>(pid)))
      process->set_python(target.version, target.reason);
  });
}

Process &ProcessLives::begin(uint32_t host_pid, const ProcessInfo &info) {
  target_ = info;
  Process &process = follow(host_pid, info);
  add_interpreter(process);
  return process;
}

gmt_up_target ProcessLives::target_value(const Process &process) const {
  gmt_up_target value{};
  value.pid = process.info().pid;
  value.children = options_.children;
  value.uid = rights_.root ? ~0u : rights_.user;
  value.interpreter = process.interpreter;
  return value;
}

Process &ProcessLives::follow(uint32_t host_pid, const ProcessInfo &info) {
  Process &process = recorder_.add(host_pid, info);
  if (options_.native_stacks)
    process.python().resolve_native_by(std::make_unique<NativeSymbols>(static_cast<pid_t>(info.pid)));
  return process;
}

void ProcessLives::add_interpreter(Process &process) {
  if (!interpreters_) return;
  process.interpreter = interpreters_->add(static_cast<pid_t>(process.info().pid), monotonic_ns());
}

void ProcessLives::note_libraries(Process &process, const LibraryLook &found) {
  if (found.simulated) process.set_simulated();
  if (found.autograd_unreadable) process.set_autograd_unreadable();
  if (found.driver) process.set_gpus(opened_gpus(process.info().pid));
}

void ProcessLives::handle_libraries(Process &process) {
  const LibraryLook found = attachments_.attach_libraries(static_cast<pid_t>(process.info().pid));
  note_libraries(process, found);
  for (const std::string &path : found.fresh) Line("library").text("path", path).say();
  process.python().libraries_changed();
  if (interpreters_) interpreters_->libraries_changed(process.interpreter, monotonic_ns());
}

/// It was stopped so that no call passes before the probes are in place.
void ProcessLives::go_on(const Process &process) const { ::kill(static_cast<pid_t>(process.info().pid), SIGCONT); }

void ProcessLives::handle_fork(const gmt_up_process &about) {
  Process *parent = recorder_.find_own(about.about);
  Process &child = follow(about.host_pid, info_of(about.pid, about.about, parent ? parent->info() : target_));
  if (parent) {
    child.inherit(*parent);
    if (interpreters_) interpreters_->add_child(static_cast<pid_t>(about.pid), child.interpreter);
  }
  Line("process").number("pid", about.pid).say();
}

/// The process goes on under its number, as another program: with a log of its own.
void ProcessLives::handle_exec(Process &before, const gmt_up_process &about) {
  count_losses(before, about.lost);
  if (interpreters_) interpreters_->remove(static_cast<pid_t>(about.pid), before.interpreter);
  const ProcessInfo info = info_of(about.pid, before.info().parent_pid, before.info());
  Process &after = follow(about.host_pid, info);  // ends `before`
  after.forget_losses(about.lost);
  add_interpreter(after);
  if (interpreters_) kernel_.set_interpreter(about.host_pid, after.interpreter);
  handle_libraries(after);
  if (about.about) go_on(after);
}

void ProcessLives::handle_exit(Process &process, const gmt_up_process &about) {
  count_losses(process, about.lost);
  finish(process, about.about != GMT_UP_LEFT && ended_in_order(about.about));
}

void ProcessLives::finish(Process &process, bool in_order) {
  const uint32_t pid = process.info().pid;
  if (interpreters_) interpreters_->remove(static_cast<pid_t>(pid), process.interpreter);
  recorder_.end(process, in_order);
  Line("exit").number("pid", pid).say();
}

void ProcessLives::handle(const gmt_up_process &about) {
  if (about.head.type == GMT_UP_FORK) return handle_fork(about);
  Process *process = recorder_.find(about.host_pid);
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

void ProcessLives::poll_interpreters(uint64_t now_ns) {
  if (interpreters_ && interpreters_->next_poll_ns() <= now_ns) interpreters_->poll(now_ns);
}

void ProcessLives::count_losses(Process &process, const uint64_t (&lost)[GMT_UP_LOSSES]) {
  const bool any = std::any_of(std::begin(lost), std::end(lost), [](uint64_t n) { return n != 0; });
  if (any) recorder_.open_log(process, monotonic_ns());
  process.handle_losses(lost);
}

void ProcessLives::read_losses(Process &process) {
  gmt_up_target value;
  if (kernel_.read_target(process.host_pid(), &value)) count_losses(process, value.lost);
}

void ProcessLives::find_ended() {
  std::vector<pollfd> waits;
  std::vector<uint32_t> host_pids;
  for (const auto &[host_pid, process] : recorder_.processes()) {
    waits.push_back({process->descriptor(), POLLIN, 0});
    host_pids.push_back(host_pid);
  }
  ::poll(waits.data(), waits.size(), 0);
  for (size_t i = 0; i < waits.size(); i++) {
    if (waits[i].fd >= 0 && waits[i].revents == 0) continue;
    Process &process = *recorder_.find(host_pids[i]);
    read_losses(process);
    kernel_.remove_target(host_pids[i]);
    finish(process, false);
  }
}

}  // namespace gmt::uprobe
