#pragma once
// From the ring buffer's records to the logs of the traced processes.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "uprobe/bpf/ring.h"
#include "uprobe/python/records.h"
#include "uprobe/session/process.h"

namespace gmt::uprobe {

struct RecorderSettings {
  int directory = -1;  ///< open on the trace directory
  uint64_t budget_bytes = 0;
  bool recording = true;
};

class Recorder {
 public:
  /// What concerns the life of a process goes to `life`, in its place among the events.
  using Life = std::function<void(const gmt_up_process &)>;
  /// A log that could not be made: the errno.
  using Failed = std::function<void(uint32_t pid, int error)>;
  Recorder(const RecorderSettings &settings, Life life, Failed failed)
      : settings_(settings), life_(std::move(life)), failed_(std::move(failed)) {}

  /// Takes one record of the ring. What contradicts itself is passed over.
  void handle(const void *record, size_t bytes);

  /// A process whose events may come; its log is made when one does.
  Process &add(uint32_t host_pid, ProcessInfo info);
  /// Null: not followed (any more).
  Process *find(uint32_t host_pid);
  /// By its number in the tracer's own PID namespace.
  Process *find_own(uint32_t pid);
  /// Makes the log, if that has not happened; it begins at `ns`. False: it cannot be made.
  bool open_log(Process &process, uint64_t ns);
  /// The process is gone, or runs another program from here on.
  void end(Process &process, bool in_order);
  const std::unordered_map<uint32_t, std::unique_ptr<Process>> &processes() const { return processes_; }

  /// Recording was switched; `missed`: a stop and a start that nobody saw came in between.
  void set_recording(bool on, bool missed, uint64_t ns);

  uint64_t events() const;
  uint64_t lost(gmt_loss cause) const;
  uint64_t lost() const;

 private:
  struct Place {
    Process *process = nullptr;
    TracedThread thread;
  };
  void handle_thread(const gmt_up_thread &about);
  void handle_node(const gmt_up_node &about);
  Place *place_of(const gmt_up_head &head);
  void handle_event(const gmt_up_head &head, const void *record, size_t bytes);

  RecorderSettings settings_;
  Life life_;
  Failed failed_;
  std::vector<Place> threads_;                                        ///< by number
  std::unordered_map<uint32_t, std::unique_ptr<Process>> processes_;  ///< by host pid
  uint64_t ended_events_ = 0, ended_lost_[GMT_LOST_CAUSES] = {};
};

}  // namespace gmt::uprobe
