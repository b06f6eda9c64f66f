#pragma once
// A session: all processes of a trace directory that may still grow, or of a saved `*.gputrace`.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trace/batch.h"
#include "trace/error.h"
#include "trace/log/batch_builder.h"
#include "trace/log/log_file.h"
#include "trace/log/losses.h"
#include "trace/log/merge.h"
#include "trace/log/process_tables.h"
#include "trace/saved/container_file.h"

namespace gmt::trace {

/// The header's facts about a process.
struct ProcessFacts {
  uint32_t pid, parent_pid, uid;
  uint32_t driver_source;  ///< enum gmt_driver_source
  bool simulated;
  uint64_t start_ns;  ///< session time
};

/// Takes the events of one process; what it refers to is valid during the call only.
using BatchSink = std::function<void(const Batch &)>;

struct PollResult {
  uint64_t events = 0;  ///< delivered by this call
  bool more = false;    ///< the limit was reached: call again now
};

/// All calls from one thread.
class LogMerger {
 public:
  static constexpr uint64_t kToTheEnd = ~0ull;

  /// Opens a trace directory (logs may come later) or a saved trace. An error where there is nothing to read or wait for. With
  /// `until_ns` only what is not later than this session time is delivered, of the processes that had begun by then.
  static Result<std::unique_ptr<LogMerger>> open(const std::string &path, uint64_t until_ns = kToTheEnd);

  /// Delivers what can be read now, at most about `max_events`, in batches of up to BatchBuilder::kEvents, processes
  /// taking turns so that session time runs roughly forward. Before the first call there are no processes.
  PollResult poll(const BatchSink &sink, uint64_t max_events = ~0ull);

  /// What comes next is not kept any more (native/recorder): a reader that begins at a newer checkpoint has to take over.
  bool overtaken() const;
  /// Of a new reader: up to this session time all is kept, whatever is gone behind it. 0: nothing is, or nothing is gone.
  uint64_t retained_ns() const;
  /// Nothing up to this session time is still to come, but what a thread is just writing.
  uint64_t sure_ns() const;
  Merge::ReadPosition read_position(size_t process) const { return processes_[process]->merge.read_position(); }
  uint64_t finished_chunks(size_t process) const { return processes_[process]->merge.finished_chunks(); }
  const std::string &log_path(size_t process) const { return processes_[process]->log.where(); }
  /// All that is not later than `until_ns` was read.
  bool past() const;
  /// The caller vouches that nothing up to `until_ns` is still to come: nothing more is read.
  void end_here();
  /// The logs are to be those of a saved trace, which has these chunks of each; see Merge.
  void renumber(const std::vector<PackedChunks> &packed);

  /// Where reading stands in all logs, between two polls. Reads into a session that was not polled yet and has these logs.
  void checkpoint(Archive &a);
  /// Nothing later was delivered so far.
  uint64_t time_ns() const;
  const std::vector<CheckpointLocation> &checkpoints() const { return checkpoints_; }
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  /// Processes are numbered in the order of their start where they were there at the first poll, then as found.
  size_t process_count() const { return processes_.size(); }
  /// The driver source is stored a moment after the log is there.
  ProcessFacts facts(size_t process) const;
  ProcessTables &tables(size_t process) { return processes_[process]->tables; }
  const ProcessTables &tables(size_t process) const { return processes_[process]->tables; }
  /// The process is gone, or recorded its end.
  bool ended(size_t process) const;
  /// What is missing of a process, by cause.
  Losses losses(size_t process) const;

  /// Something may still come: a process runs, or (in a directory without a log) none has begun, or not all was read.
  /// With `until_ns`, only while something up to that time may.
  bool live() const;
  bool saved() const { return saved_; }
  /// What is missing of all processes and of the file.
  Losses losses() const;
  uint64_t events() const;
  /// That are written and were not read.
  uint64_t events_to_come() const;
  /// CLOCK_REALTIME of session time 0 (the start of the process that began first); 0 without a process.
  uint64_t start_realtime_ns() const { return start_realtime_ns_; }
  /// What the launcher left, as it is now; empty where there is nothing.
  std::string session_json() const;
  /// Paths to the logs of a trace directory, valid as long as this object even where the directory was deleted.
  std::vector<std::string> open_logs() const;
  /// What a user should know of the files themselves: one sentence each.
  std::vector<std::string> notes() const;

 private:
  struct Process {
    Process(LogFile opened, const gmt_file_header &header, uint64_t zero_ns);
    LogFile log;
    ProcessFacts facts;
    uint64_t process_start;
    ProcessTables tables;
    Merge merge;
    bool gone = false;
    bool idle = false;  ///< nothing more could be read
    bool past = false;  ///< it has been read up to `until_ns`
    uint64_t time_ns() const { return std::max({facts.start_ns, merge.last_ns(), merge.next_ns()}); }
  };

  LogMerger(std::string path, bool saved, uint64_t until_ns)
      : path_(std::move(path)), saved_(saved), until_ns_(until_ns) {}
  Status open_saved();
  Status open_directory();
  void discover();
  void try_log(const std::string &name);
  void adopt();
  void check_processes();
  Process *next_to_read();
  uint64_t horizon(const Process &process) const;
  void read_process(Archive &a);
  bool time_is_over() const;
  bool begins_later(const gmt_file_header &header) const;

  std::string path_;
  bool saved_;
  uint64_t until_ns_;
  bool cut_ = false;
  std::string saved_json_;
  std::vector<CheckpointLocation> checkpoints_;
  uint64_t start_realtime_ns_ = 0;
  uint64_t checked_ns_ = 0;              ///< when the directory and /proc were last read
  std::set<std::string> finished_logs_;  ///< names of logs that were opened or refused
  std::vector<LogFile> opened_;          ///< not processes yet
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::string> notes_;
  BatchBuilder batch_;
};

}  // namespace gmt::trace
