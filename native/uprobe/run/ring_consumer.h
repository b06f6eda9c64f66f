#pragma once
// From the ring buffer's records to the logs of the traced processes.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "uprobe/bpf/ring.h"
#include "uprobe/python/python_records.h"
#include "uprobe/run/traced_process.h"
#include "wire/loss_names.h"

namespace gmt::uprobe {

struct RingConsumerSettings {
  int directory = -1;  ///< open on the trace directory
  uint64_t budget_bytes = 0;
  bool recording = true;
};

class RingConsumer {
 public:
  /// What concerns the life of a process goes to `life`, in its place among the events.
  using Life = std::function<void(const gmt_up_process &)>;
  /// A log that could not be made: the errno.
  using Failed = std::function<void(uint32_t pid, int error)>;
  RingConsumer(const RingConsumerSettings &settings, Life life, Failed failed)
      : settings_(settings), life_(std::move(life)), failed_(std::move(failed)) {}

  /// Takes one record of the ring. What contradicts itself is passed over.
  void handle(const void *record, size_t bytes) {
    const auto *head = as<gmt_up_head>(record, bytes);
    if (!head) return;
    switch (head->type) {
      case GMT_UP_ENTRY:
      case GMT_UP_RETURN:
      case GMT_UP_TENSOR:
      case GMT_UP_TENSOR_OOM:
        return handle_event(*head, record, bytes);
      case GMT_UP_THREAD:
        if (const auto *thread = as<gmt_up_thread>(record, bytes)) handle_thread(*thread);
        return;
      case GMT_UP_NODE:
        if (const auto *node = as<gmt_up_node>(record, bytes)) handle_node(*node);
        return;
      case GMT_UP_CONTEXT:
        if (const auto *context = as<gmt_up_context>(record, bytes))
          if (Place *place = place_of(*head)) place->process->handle_context(*context);
        return;
      case GMT_UP_LIBRARIES:
      case GMT_UP_FORK:
      case GMT_UP_EXEC:
      case GMT_UP_EXIT:
      case GMT_UP_ENDING:
        if (const auto *process = as<gmt_up_process>(record, bytes)) life_(*process);
        return;
      default:
        if (head->type < GMT_UP_PYTHON_FIRST || head->type > GMT_UP_PYTHON_LAST) return;
        if (Place *place = place_of(*head)) place->process->python().handle(record, bytes);
    }
  }

  /// A process whose events may come; its log is made when one does.
  TracedProcess &add(uint32_t host_pid, ProcessInfo info) {
    auto &place = processes_[host_pid];
    if (place) end(*place, true);
    auto &fresh = processes_[host_pid];
    fresh = std::make_unique<TracedProcess>(host_pid, std::move(info));
    return *fresh;
  }
  /// Null: not followed (any more).
  TracedProcess *find(uint32_t host_pid) {
    const auto place = processes_.find(host_pid);
    return place == processes_.end() ? nullptr : place->second.get();
  }
  /// By its number in the tracer's own PID namespace.
  TracedProcess *find_own(uint32_t pid) {
    for (const auto &[host_pid, process] : processes_)
      if (process->info().pid == pid) return process.get();
    return nullptr;
  }
  /// Makes the log, if that has not happened; it begins at `ns`. False: it cannot be made.
  bool open_log(TracedProcess &process, uint64_t ns) {
    if (process.log().is_open()) return true;
    if (process.refused()) return false;
    if (process.open_log(settings_.directory, settings_.budget_bytes, settings_.recording, ns)) return true;
    failed_(process.info().pid, errno);
    process.refuse();
    return false;
  }
  /// The process is gone, or runs another program from here on.
  void end(TracedProcess &process, bool in_order) {
    process.end(in_order);
    ended_events_ += process.log().events();
    for (uint32_t cause = 0; cause < GMT_LOST_CAUSES; cause++)
      ended_lost_[cause] += process.log().lost(static_cast<gmt_loss>(cause));
    for (Place &place : threads_)
      if (place.process == &process) place = {};
    processes_.erase(process.host_pid());
  }
  const std::unordered_map<uint32_t, std::unique_ptr<TracedProcess>> &processes() const { return processes_; }

  /// Recording was switched; `missed`: a stop and a start that were not seen came in between.
  void set_recording(bool on, bool missed, uint64_t ns) {
    settings_.recording = on;
    for (const auto &[pid, process] : processes_) {
      if (!process->log().is_open()) continue;
      if (on && missed) process->mark(GMT_RECORDING_STOP, ns);
      process->mark(on ? GMT_RECORDING_START : GMT_RECORDING_STOP, ns);
    }
  }

  uint64_t events() const {
    uint64_t sum = ended_events_;
    for (const auto &[pid, process] : processes_) sum += process->log().events();
    return sum;
  }
  uint64_t lost(gmt_loss cause) const {
    uint64_t sum = ended_lost_[cause];
    for (const auto &[pid, process] : processes_) sum += process->log().lost(cause);
    return sum;
  }
  uint64_t lost() const {
    uint64_t sum = 0;
    for (uint32_t cause = 0; cause < GMT_LOST_CAUSES; cause++)
      if (gmt_loses_events(cause)) sum += lost(static_cast<gmt_loss>(cause));
    return sum;
  }

 private:
  static constexpr uint32_t kMostThreads = 1 << 22;

  struct Place {
    TracedProcess *process = nullptr;
    TracedThread thread;
  };
  void handle_thread(const gmt_up_thread &about) {
    if (about.head.thread == 0 || about.head.thread > kMostThreads) return;
    if (about.head.thread >= threads_.size()) threads_.resize(about.head.thread + 1);
    TracedProcess *process = find(about.host_pid);
    if (!process) return;
    threads_[about.head.thread] = {process,
                                   open_log(*process, about.head.time) ? process->add_thread(about) : TracedThread{}};
  }
  void handle_node(const gmt_up_node &about) {
    Place *place = place_of(about.head);
    if (!place || !place->thread.good) return;
    TracedProcess &process = *place->process;
    if (const uint32_t stack = process.python().stack_id(about.head.stack))
      process.handle_node(place->thread, about, stack);
  }
  Place *place_of(const gmt_up_head &head) {
    Place *place = head.thread < threads_.size() ? &threads_[head.thread] : nullptr;
    return place && place->process ? place : nullptr;
  }
  void handle_event(const gmt_up_head &head, const void *record, size_t bytes) {
    Place *place = place_of(head);
    if (!place) return;
    TracedProcess &process = *place->process;
    if (!place->thread.good) {
      process.log().lose(GMT_LOST_THREADS, 1);
      return;
    }
    const uint32_t stack = head.stack ? process.python().stack_id(head.stack) : 0;
    if (head.type == GMT_UP_TENSOR || head.type == GMT_UP_TENSOR_OOM) {
      if (const auto *tensor = as<gmt_up_tensor>(record, bytes)) process.handle_tensor(place->thread, *tensor, stack);
    } else if (bytes >= offsetof(gmt_up_call, words)) {
      process.handle_call(place->thread, *static_cast<const gmt_up_call *>(record), bytes, stack);
    }
  }

  RingConsumerSettings settings_;
  Life life_;
  Failed failed_;
  std::vector<Place> threads_;                                              ///< by number
  std::unordered_map<uint32_t, std::unique_ptr<TracedProcess>> processes_;  ///< by host pid
  uint64_t ended_events_ = 0, ended_lost_[GMT_LOST_CAUSES] = {};
};

}  // namespace gmt::uprobe
