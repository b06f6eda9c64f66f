#include "session/modelled_trace.h"

#include <algorithm>

#include "session/stored_checkpoints.h"
#include "session/trace_checkpoint.h"
#include "trace/saved/save.h"

namespace gmt::session {
namespace {

constexpr uint64_t kSlice = 16384;  ///< events between two checks whether a checkpoint is due
/// The recorder may give back what a checkpoint needs while that is read: then there is a newer one.
constexpr int kTurns = 8;

constexpr char kNotAll[] =
    " does not cover the whole requested time: events older than the full-detail window (--detail) are not "
    "stored.";

using Opened = trace::Result<std::unique_ptr<ModelledTrace>>;

Opened from_begin(const std::string &path, uint64_t until_ns) {
  auto reader = trace::LogMerger::open(path, until_ns);
  if (!reader) return trace::Error{reader.error()};
  return std::make_unique<ModelledTrace>(std::move(reader.value()));
}

std::vector<CheckpointFile> checkpoints_of(const std::string &path, const trace::LogMerger &reader) {
  std::vector<CheckpointFile> all;
  if (reader.saved()) {
    for (const trace::CheckpointLocation &location : reader.checkpoints()) all.push_back({path, location, {}});
  } else {
    all = stored_checkpoints(path);
  }
  std::erase_if(all, [](const CheckpointFile &one) { return one.location.header.version != kCheckpointVersion; });
  return all;
}

class Opening {
 public:
  Opening(const std::string &path, uint64_t until_ns, uint64_t latest_ns)
      : path_(path), until_ns_(until_ns), latest_ns_(latest_ns) {}

  /// Null: all that it could begin with lies before events that are not kept.
  Opened open() {
    auto begin = from_begin(path_, until_ns_);
    if (!begin) return begin;
    const std::vector<CheckpointFile> all = checkpoints_of(path_, *begin.value()->reader);
    const auto later =
        std::ranges::find_if(all, [&](const auto &one) { return one.location.header.time_ns > latest_ns_; });
    bool gap = false;  // behind which only what is later can begin
    for (auto at = later; at != all.begin() && !gap;) {
      if (auto modelled = resumed(*--at)) return with_note(std::move(modelled));
      gap = gap_;
    }
    if (!gap && !begin.value()->reader->overtaken()) return with_note(std::move(begin.value()));
    for (auto at = later; at != all.end() && at->location.header.time_ns <= until_ns_; ++at) {
      auto modelled = resumed(*at);
      if (!modelled) continue;
      modelled->reader->note(path_ + kNotAll);
      return with_note(std::move(modelled));
    }
    return std::unique_ptr<ModelledTrace>();
  }

 private:
  std::unique_ptr<ModelledTrace> resumed(const CheckpointFile &from) {
    gap_ = false;
    const std::vector<std::byte> bytes = trace::read_checkpoint(from.path, from.location);
    auto modelled = from_begin(path_, until_ns_);  // what a damaged one left behind is of no use
    if (!modelled || bytes.empty() || !resume(bytes, *modelled.value()->reader, modelled.value()->model)) {
      ++damaged_;
      return nullptr;
    }
    // A moment is for itself: chunks that it would continue in may have been released.
    if (!from.kind.empty() && !modelled.value()->reader->past()) return nullptr;
    gap_ = modelled.value()->reader->overtaken();
    return gap_ ? nullptr : std::move(modelled.value());
  }
  Opened with_note(std::unique_ptr<ModelledTrace> modelled) const {
    const char *what = " has a damaged checkpoint. The trace is complete, but opening it takes longer.";
    if (damaged_ > 0) modelled->reader->note(path_ + what);
    return modelled;
  }

  const std::string &path_;
  const uint64_t until_ns_, latest_ns_;
  size_t damaged_ = 0;
  bool gap_ = false;  ///< behind the checkpoint that was tried last
};

void write_checkpoint(trace::TraceWriter &writer, uint64_t time_ns, std::span<const std::byte> bytes,
                      std::span<const std::byte> frame) {
  const gmt_checkpoint_header header{time_ns, frame.size(), bytes.size(), kCheckpointVersion};
  writer.begin_section(GMT_SECTION_CHECKPOINT);
  writer.append(std::as_bytes(std::span(&header, 1)));
  writer.append(frame);
}

/// Reads to the end and adds checkpoints on the way.
class Adding {
 public:
  Adding(trace::TraceWriter &writer, uint64_t events)
      : writer_(writer), events_(events), log_bytes_(writer.size()), due_(events) {}

  void read(ModelledTrace &modelled) {
    for (bool more = true; more && !writer_.error();) {
      more = modelled.poll(std::min(kSlice, events_));
      const uint64_t read = modelled.reader->events();
      // Little is read as fast as a checkpoint.
      if (more ? read >= due_ : read - stored_events_ >= events_ / 8)
        add(modelled, checkpoint(*modelled.reader, modelled.model));
    }
  }
  void add_moment(const TimedCheckpoint &checkpoint) {
    write_checkpoint(writer_, checkpoint.time_ns, checkpoint.bytes, packer_.pack(checkpoint.bytes));
  }
  void add(const ModelledTrace &modelled, std::span<const std::byte> bytes) {
    const std::span frame = packer_.pack(bytes);
    write_checkpoint(writer_, modelled.reader->time_ns(), bytes, frame);
    stored_events_ = modelled.reader->events();
    stored_bytes_ += frame.size();
    const auto whole = static_cast<double>(modelled.reader->events_to_come() + stored_events_);
    const double room = static_cast<double>(log_bytes_) / std::max(whole, 1.0);  // an event
    due_ = std::max(stored_events_ + events_,
                    static_cast<uint64_t>(static_cast<double>(stored_bytes_ + frame.size()) / room));
  }

 private:
  trace::TraceWriter &writer_;
  const uint64_t events_, log_bytes_;
  trace::Packer packer_;
  uint64_t stored_events_ = 0, stored_bytes_ = 0, due_;
};

/// What the events made that `source` does not keep, as checkpoints of a saved trace that has these chunks: its moments, and behind the
/// gap the one that the rest continues from. Empty: all is kept.
trace::Result<std::vector<TimedCheckpoint>> over_gap(const std::string &source,
                                                     const std::vector<trace::PackedChunks> &packed) {
  std::vector<TimedCheckpoint> all;
  const auto is_whole = [](const auto &one) { return one.log.gone_sequence <= one.log.kept_sequence; };
  if (std::ranges::all_of(packed, is_whole)) return all;
  auto modelled = open(source, trace::LogMerger::kToTheEnd, 0);
  if (!modelled) return trace::Error{modelled.error()};
  const auto add = [&](ModelledTrace &one) {
    one.reader->renumber(packed);
    all.push_back({one.reader->time_ns(), checkpoint(*one.reader, one.model)});
  };
  const uint64_t end_ns = modelled.value()->reader->time_ns();
  for (const CheckpointFile &one : stored_checkpoints(source)) {
    const uint64_t ns = one.location.header.time_ns;
    if (one.kind.empty() || ns > end_ns || (!all.empty() && all.back().time_ns == ns)) continue;
    if (auto moment = open(source, ns, ns)) add(*moment.value());
  }
  add(*modelled.value());
  return all;
}

}  // namespace

Opened open(const std::string &path, uint64_t until_ns, uint64_t latest_ns) {
  for (int turn = 0; turn < kTurns; ++turn) {
    auto modelled = Opening(path, until_ns, latest_ns).open();
    if (!modelled || modelled.value()) return modelled;
    if (until_ns != trace::LogMerger::kToTheEnd) break;
  }
  return trace::Error{
      until_ns == trace::LogMerger::kToTheEnd
          ? path + " was recorded by another version of GPU Memory Trace, or is damaged: its beginning cannot be read."
          : "That moment is no longer stored: it is older than the full-detail window (--detail). Older moments that "
            "can be shown are the ends of steps 1, 2, 4, 8 and so on, the peak, and markers."};
}

trace::Status save(const std::string &source, const std::string &target, const std::string &session_json,
                   const std::vector<std::string> &open_logs) {
  for (int turn = 0;; ++turn) {
    bool torn = false;  // a recorder came while chunks were copied, and gave some of them back
    auto copying = std::make_optional<DirectoryLock>(source, DirectoryLock::kSaver, DirectoryLock::Way::kTogether);
    const auto add = [&](trace::TraceWriter &writer, const std::vector<trace::PackedChunks> &packed) -> trace::Status {
      auto checkpoints = over_gap(source, packed);
      if (!checkpoints) return trace::Error{checkpoints.error()};
      torn = !checkpoints.value().empty() && !copying->held();
      copying.reset();
      if (torn || !add_checkpoints(writer, kEventsApart, checkpoints.value()))
        return trace::Error{"Cannot save " + target + ": parts that " + source + " no longer stores cannot be added."};
      return std::nullopt;
    };
    const trace::Status status = trace::save(source, target, session_json, open_logs, add);
    if (!torn || turn > 0) return status;
  }
}

bool add_checkpoints(trace::TraceWriter &writer, uint64_t events, std::span<const TimedCheckpoint> over_gap) {
  Adding adding(writer, events);
  const auto opened = [&](uint64_t until_ns) { return from_begin(writer.unfinished_path(), until_ns); };
  auto modelled = opened(trace::LogMerger::kToTheEnd);
  if (!modelled) return over_gap.empty();
  if (!over_gap.empty()) {
    auto first = opened(modelled.value()->reader->retained_ns());
    if (first) adding.read(*first.value());
    const TimedCheckpoint &behind_gap = over_gap.back();
    for (const TimedCheckpoint &moment : over_gap.first(over_gap.size() - 1)) adding.add_moment(moment);
    if (!resume(behind_gap.bytes, *modelled.value()->reader, modelled.value()->model)) return false;
    adding.add(*modelled.value(), behind_gap.bytes);
  }
  adding.read(*modelled.value());
  return true;
}

}  // namespace gmt::session
