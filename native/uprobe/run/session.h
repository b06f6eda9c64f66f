#pragma once
// One attachment, from the checks to the last word: follows the processes, writes their logs, says what happens.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "uprobe/attach/attachments.h"
#include "uprobe/attach/foreign_memory.h"
#include "uprobe/attach/kernel_side.h"
#include "uprobe/attach/privileges.h"
#include "uprobe/run/control_follow.h"
#include "uprobe/run/options.h"
#include "uprobe/run/output_line.h"
#include "uprobe/run/process_lives.h"
#include "uprobe/run/ring_consumer.h"
#include "uprobe/run/waiter.h"
#include "wire/clock.h"
#include "wire/files.h"
#include "wire/loss_names.h"

namespace gmt::uprobe {

class Session {
 public:
  Session(const AttachOptions &options, const Rights &rights) : options_(options), rights_(rights) {}
  ~Session() {
    set_foreign_reader({});
    // Probes first: nothing is queued any more when the rest goes.
    attachments_.reset();
  }

  /// Attaches; a problem: nothing is left behind.
  Problem begin() {
    if (Problem problem = open_directory()) return problem;
    if (Problem problem = find_target()) return problem;
    if (Problem problem = settle(target_.uids[0])) return problem;
    if (Problem problem = load()) return problem;
    if (Problem problem = attach()) return problem;
    kernel_.set_recording(recording_);
    run_ahead();
    OutputLine("ready")
        .text("how", way_ == ProbeWay::kMulti ? "uprobe_multi" : "perf")
        .number("probes", attachments_->probes())
        .list("libraries", attachments_->paths())
        .print();
    return {};
  }
  /// Records until it is over, and detaches.
  void run() {
    waiter_.add(kernel_.ring_descriptor());
    waiter_.add(control_->descriptor());
    getters_until_ns_ = monotonic_ns() + kGettersTime;
    bool more = false;
    uint64_t taken = 0;
    while (!waiter_.asked_to_end() && !consumer_->processes().empty()) {
      kernel_.set_sleeping(!more);
      waiter_.wait(more ? 0 : taken < kFew ? kIdleTickMs : kTickMs);
      kernel_.set_sleeping(false);
      follow_control();
      more = kernel_.consume(kRound, &taken);
      keep_house(monotonic_ns(), !more);
    }
    detach();
  }

 private:
  static constexpr int kTickMs = 100, kIdleTickMs = 400;
  static constexpr uint64_t kFew = 1000;     ///< records between two ticks of an idle program
  static constexpr size_t kRound = 1 << 16;  ///< records between two looks at everything else
  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kGettersTime = 10 * kSecond;
  static bool has_ended(int descriptor) {
    pollfd wait{descriptor, POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  static std::string name_of(uint32_t pid) { return "Process " + std::to_string(pid); }

  Problem open_directory() {
    directory_ = Descriptor(open_folder(options_.directory.c_str(), FileLinks::kFollowed));
    if (directory_ >= 0) return {};
    return {"directory", "The trace directory " + options_.directory + " cannot be opened (" + std::strerror(errno) +
                             "); use a folder that exists and belongs to you."};
  }
  Problem find_target() {
    target_descriptor_ = Descriptor(open_pidfd(options_.pid));
    const auto info = target_descriptor_ >= 0 ? read_process(options_.pid) : std::nullopt;
    if (!info || info->zombie)
      return {"no-process",
              "There is no process " + std::to_string(options_.pid) + "; use the ID of a running process."};
    target_ = *info;
    if (rights_.root || target_.belongs_to(rights_.user)) return {};
    return {"not-yours", name_of(options_.pid) + " belongs to another user; attach as that user, or as root."};
  }
  /// As root the files are to be the folder's owner's, and only what is still needed is kept.
  Problem settle(uint32_t target_uid) {
    if (!rights_.can_trace)
      return {
          "no-privilege",
          "The tracer lacks CAP_BPF and CAP_PERFMON; run it as root, or run once: sudo setcap cap_bpf,cap_perfmon+ep "
          "and the path of gpu-memtrace-uprobe."};
    way_ = !options_.perf_probes && multi_links_work() ? ProbeWay::kMulti : ProbeWay::kPerf;
    struct stat folder {};
    if (::fstat(directory_, &folder) != 0) return open_directory();
    const uid_t owner = rights_.root ? folder.st_uid : rights_.user;
    const bool foreign = rights_.root && (target_uid != owner || owner == 0);
    if (!settle_rights(owner, rights_.root ? folder.st_gid : ::getgid(), foreign, way_ == ProbeWay::kPerf))
      return {"no-privilege",
              "The tracer could not drop its privileges; run it as root or with capabilities on its file."};
    if (::faccessat(directory_, ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
    return {"directory", "The trace directory " + options_.directory + " cannot be written (" + std::strerror(errno) +
                             "); use a folder that belongs to you."};
  }
  Problem load() {
    KernelSettings settings;
    settings.way = way_;
    settings.ring_bytes = options_.ring_bytes;
    settings.stacks = options_.stacks;
    settings.native_stacks = options_.native_stacks;
    settings.stop_at_libraries = options_.wait_libraries;
    settings.read_memory = reading_is_forbidden(static_cast<pid_t>(options_.pid));
    if (settings.read_memory) set_foreign_reader([this](auto... request) { return kernel_.read_memory(request...); });
    if (Problem problem = kernel_.load(settings)) return problem;
    kernel_.on_record = [this](const void *record, size_t bytes) { consumer_->handle(record, bytes); };
    control_ = std::make_unique<ControlFollow>(directory_);
    recording_ = control_->recording();
    consumer_ = std::make_unique<RingConsumer>(
        RingConsumerSettings{directory_, options_.budget_bytes, recording_},
        [this](const gmt_up_process &about) { lives_->handle(about); },
        [this](uint32_t pid, int error) { say_without_log(pid, error); });
    const bool scoped = !options_.children && (way_ == ProbeWay::kPerf || scoped_links_see_threads());
    attachments_ = std::make_unique<Attachments>(kernel_, way_, scoped ? static_cast<pid_t>(options_.pid) : 0);
    attachments_->set_autograd(options_.autograd && options_.stacks);
    lives_ = std::make_unique<ProcessLives>(options_, rights_, kernel_, *attachments_, *consumer_);
    return {};
  }
  Problem attach() {
    const Problem ended{"ended", name_of(options_.pid) + " ended while the tracer attached to it."};
    const uint32_t host_pid = kernel_.host_pid_of(static_cast<pid_t>(options_.pid));
    if (host_pid == 0 || has_ended(target_descriptor_)) return ended;
    TracedProcess &process = lives_->begin(host_pid, target_);
    const gmt_up_target target = lives_->target_value(process);
    if (!kernel_.add_target(host_pid, target))
      return {"no-bpf", "The kernel's table of traced processes cannot be filled."};
    const LibraryLook found = attachments_->attach_libraries(static_cast<pid_t>(options_.pid));
    if (has_ended(target_descriptor_)) return ended;
    if (!found.driver && !options_.wait_libraries) {
      const std::string why = found.refused.empty() ? "" : " " + found.refused.front();
      return {"no-libcuda", name_of(options_.pid) + " has not loaded libcuda, so it uses no GPU (yet)." + why +
                                " Attach once it does, or start it with the tracer."};
    }
    lives_->note_libraries(process, found);
    if (!options_.wait_libraries) {
      if (!consumer_->open_log(process, monotonic_ns()))
        return {"directory", "No log can be made in " + options_.directory + " (" + std::strerror(errno) + ")."};
      process.begin_earlier(options_.earlier_bytes, monotonic_ns());
      if (opened_gpus(options_.pid) != 1) attachments_->set_getters(true);
    }
    return {};
  }
  /// Once: what keeps one log from being made keeps others too.
  void say_without_log(uint32_t pid, int error) {
    if (std::exchange(refused_log_, true)) return;
    const std::string message = name_of(pid) + " is not recorded: its log cannot be created in " + options_.directory +
                                " (" + std::strerror(error) + ").";
    OutputLine("error").text("code", "directory").text("message", message).print();
  }

  /// What was queued before a stop belongs before its mark, and what comes after a start behind it.
  void follow_control() {
    bool missed = false;
    if (!control_->changed(&missed)) return;
    const bool on = control_->recording();
    if (on == recording_ && !missed) return;
    if (recording_) {
      kernel_.set_recording(false);
      kernel_.consume_all();
    }
    consumer_->set_recording(on, missed, monotonic_ns());
    recording_ = on;
    kernel_.set_recording(on);
  }
  void keep_house(uint64_t now_ns, bool caught_up) {
    lives_->poll_interpreters(now_ns);
    if (now_ns < next_second_ns_) return;
    next_second_ns_ = now_ns + kSecond;
    if (now_ns > getters_until_ns_) attachments_->set_getters(false);
    for (const auto &[pid, process] : consumer_->processes()) {
      lives_->read_losses(*process);
      if (now_ns > getters_until_ns_) process->settle_earlier(now_ns);
    }
    tell_losses();
    if (caught_up) lives_->find_ended();
  }
  void tell_losses() {
    for (uint32_t cause = 0; cause < GMT_LOST_CAUSES; cause++) {
      const uint64_t lost = consumer_->lost(static_cast<gmt_loss>(cause));
      if (lost == printed_lost_[cause]) continue;
      const char *name = gmt_loss_name(cause);
      OutputLine("lost")
          .number("count", lost - printed_lost_[cause])
          .text("cause", name ? name : "unknown cause")
          .print();
      printed_lost_[cause] = lost;
    }
  }
  void detach() {
    kernel_.set_recording(false);
    attachments_->clear();
    kernel_.consume_all();
    while (!consumer_->processes().empty()) {
      TracedProcess &process = *consumer_->processes().begin()->second;
      lives_->read_losses(process);
      if (process.log().is_open() && recording_) process.mark(GMT_RECORDING_STOP, monotonic_ns());
      consumer_->end(process, false);
    }
    tell_losses();
    OutputLine("ended").number("events", consumer_->events()).number("lost", consumer_->lost()).print();
  }

  AttachOptions options_;
  Rights rights_;
  ProbeWay way_ = ProbeWay::kMulti;
  Descriptor directory_;
  ProcessInfo target_;
  Descriptor target_descriptor_;  ///< pidfd: the number cannot come to mean another process unnoticed

  KernelSide kernel_;
  std::unique_ptr<Attachments> attachments_;
  std::unique_ptr<ControlFollow> control_;
  std::unique_ptr<RingConsumer> consumer_;
  std::unique_ptr<ProcessLives> lives_;
  Waiter waiter_;
  bool recording_ = true;
  bool refused_log_ = false;
  uint64_t next_second_ns_ = 0, getters_until_ns_ = 0;
  uint64_t printed_lost_[GMT_LOST_CAUSES] = {};
};

}  // namespace gmt::uprobe
