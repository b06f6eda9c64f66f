#pragma once
// Follows the logs of one trace directory for as long as its job lives, keeps what their events make in checkpoints, and gives old
// chunks back. Dies at any instant without harm: the next one continues from the newest checkpoint.
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "recorder/log_retention.h"
#include "recorder/moments.h"
#include "session/modelled_trace.h"
#include "session/stored_checkpoints.h"
#include "trace/saved/zstd.h"

namespace gmt::recorder {

/// Of a job, in bytes.
struct Limits {
  uint64_t detail = 512ull << 20;  ///< of the newest events, which stay in full
  uint64_t budget = 2ull << 30;    ///< that all files of the directory may take
};

/// False: the trace was deleted.
bool directory_is_there(const std::string &directory);

class Recorder {
 public:
  /// The first steps stay in full, too.
  static constexpr uint32_t kFirstSteps = 20;

  /// Continues where the directory's checkpoints end. The error is one sentence.
  static trace::Result<std::unique_ptr<Recorder>> begin(const std::string &directory, const Limits &limits);

  /// Reads what there is, for some milliseconds, and does what is due. False: there was nothing more.
  bool turn();
  uint64_t events() const { return modelled_->reader->events(); }
  /// No process of the job is left, and all was read.
  bool over();
  /// Makes a checkpoint, and frees what is older.
  void fold();

 private:
  struct Point {
    std::string path;
    uint64_t bytes = 0;
    uint64_t finished = 0;                              ///< chunks of all logs, read before it
    uint64_t sure_ns = 0;                               ///< every event before this time was read already
    std::vector<trace::Merge::ReadPosition> positions;  ///< empty: an earlier recorder wrote it
    bool released = false;                              ///< what lies before it
  };

  Recorder(std::string directory, const Limits &limits, std::unique_ptr<session::ModelledTrace> modelled);
  void update_logs();
  void share_room();
  void retain_first_steps();
  bool first_steps_over() const;
  void add_point();
  void release_old(bool all);
  void retain_moments(uint64_t until_ns);
  uint64_t finished_chunks() const;
  uint64_t reserved_chunks() const;

  const std::string directory_;
  const Limits limits_;
  std::unique_ptr<session::ModelledTrace> modelled_;
  trace::Packer packer_;
  std::vector<std::unique_ptr<LogRetention>> logs_;  ///< by process
  std::deque<Point> points_;                         ///< oldest first
  uint64_t point_bytes_ = 0;                         ///< that they take
  uint64_t most_bytes_ = 0;                          ///< of one of them
  bool fits_ = true;                                 ///< the disk had room for the newest one
  uint64_t budget_;                                  ///< the limit, or what the disk has room for
  uint64_t room_;                                    ///< bytes of it that logs may still take
  RetainedMoments moments_;
  uint64_t moments_ns_ = 0;      ///< up to which those that stay were looked for
  uint64_t first_steps_ns_ = 0;  ///< when they were over; 0: they are not
  uint64_t retained_ns_ = 0;     ///< up to which they are kept; 0: that is not known yet
  std::chrono::steady_clock::time_point next_point_{}, checked_{}, alive_ = std::chrono::steady_clock::now();
};

}  // namespace gmt::recorder
