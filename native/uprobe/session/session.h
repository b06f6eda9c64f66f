#pragma once
// One attachment, from the checks to the last word: follows the processes, writes their logs, says what happens.
#include <memory>
#include <string>

#include "uprobe/attach/attachments.h"
#include "uprobe/attach/kernel_side.h"
#include "uprobe/attach/privileges.h"
#include "uprobe/session/control_follow.h"
#include "uprobe/session/options.h"
#include "uprobe/session/process_lives.h"
#include "uprobe/session/recorder.h"
#include "uprobe/session/waiter.h"

namespace gmt::uprobe {

class Session {
 public:
  Session(const AttachOptions &options, const Rights &rights) : options_(options), rights_(rights) {}
  ~Session();

  /// Attaches; a problem: nothing is left behind.
  Problem begin();
  /// Records until it is over, and detaches.
  void run();

 private:
  Problem open_directory();
  Problem find_target();
  Problem settle(uint32_t target_uid);
  Problem load();
  Problem attach();
  void say_without_log(uint32_t pid, int error);

  void follow_control();
  void keep_house(uint64_t now_ns, bool caught_up);
  void tell_losses();
  void detach();

  AttachOptions options_;
  Rights rights_;
  ProbeWay way_ = ProbeWay::kMulti;
  int directory_ = -1;
  ProcessInfo target_;
  uint32_t host_pid_ = 0;       ///< of the target, as BPF numbers it
  int target_descriptor_ = -1;  ///< pidfd: the number cannot come to mean another process unnoticed

  KernelSide kernel_;
  std::unique_ptr<Attachments> attachments_;
  std::unique_ptr<ControlFollow> control_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<ProcessLives> lives_;
  Waiter waiter_;
  bool recording_ = true;
  bool refused_log_ = false;
  uint64_t next_second_ns_ = 0, getters_until_ns_ = 0;
  uint64_t told_lost_[GMT_LOST_CAUSES] = {};
};

}  // namespace gmt::uprobe
