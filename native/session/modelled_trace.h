#pragma once
// A trace that is read: its reader, and the model that the reader feeds.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"
#include "session/trace_names.h"
#include "trace/log_merger.h"

namespace gmt::session {

struct ModelledTrace {
  explicit ModelledTrace(std::unique_ptr<trace::LogMerger> from)
      : reader(std::move(from)), names(*reader), model(names) {}
  /// What can be read now, about `max_events`. True: there is more.
  bool poll(uint64_t max_events) {
    return reader->poll([this](const trace::Batch &batch) { model.ingest(batch); }, max_events).more;
  }

  std::unique_ptr<trace::LogMerger> reader;
  TraceNames names;
  model::Model model;
};

/// Opens a trace directory or a saved trace, to be read up to the session time `until_ns`. What was before the newest checkpoint that is
/// not later than `latest_ns` is in the model already; where not all events behind that are kept, before the first later one behind
/// which they are. The error is one sentence. A session whose reader was overtaken is of no use: what was read is in a newer checkpoint.
trace::Result<std::unique_ptr<ModelledTrace>> open(const std::string &path, uint64_t until_ns, uint64_t latest_ns);

/// trace::save(), with checkpoints.
trace::Status save(const std::string &source, const std::string &target, const std::string &session_json,
                   const std::vector<std::string> &open_logs);

/// A checkpoint, and when it was.
struct TimedCheckpoint {
  uint64_t time_ns;
  std::vector<std::byte> bytes;
};

/// Adds checkpoints to a trace whose logs are written: about `events` apart, and further where they would take more room than the
/// logs. `over_gap`: where not all events are kept, moments among those that are not, in order, and a checkpoint that those which
/// follow continue from; false: it does not fit.
constexpr uint64_t kEventsApart = 400'000;
bool add_checkpoints(trace::TraceWriter &writer, uint64_t events = kEventsApart,
                     std::span<const TimedCheckpoint> over_gap = {});

}  // namespace gmt::session
