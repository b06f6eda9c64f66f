#include "session/session.h"

#include <algorithm>

#include "session/checkpoint.h"
#include "trace/saved/save.h"

namespace gmt::session {
namespace {

constexpr uint64_t kSlice = 16384;  ///< events between two looks whether a checkpoint is due

trace::Result<std::unique_ptr<Session>> from_begin(const std::string &path, uint64_t until_ns) {
  auto reader = trace::SessionReader::open(path, until_ns);
  if (!reader) return trace::Error{reader.error()};
  return std::make_unique<Session>(std::move(reader.value()));
}

void write_checkpoint(trace::TraceWriter &writer, const Session &session, std::span<const std::byte> bytes,
                      std::span<const std::byte> frame) {
  const gmt_checkpoint_header header{session.reader->time_ns(), frame.size(), bytes.size(), kCheckpointVersion};
  writer.begin_section(GMT_SECTION_CHECKPOINT);
  writer.append(std::as_bytes(std::span(&header, 1)));
  writer.append(frame);
}

}  // namespace

trace::Result<std::unique_ptr<Session>> open(const std::string &path, uint64_t until_ns, uint64_t latest_ns) {
  auto session = from_begin(path, until_ns);
  if (!session) return session;
  size_t damaged = 0;
  const std::vector<trace::CheckpointPlace> places = session.value()->reader->checkpoints();
  for (size_t at = places.size(); at-- > 0;) {
    if (places[at].header.version != kCheckpointVersion || places[at].header.time_ns > latest_ns) continue;
    const std::vector<std::byte> bytes = trace::read_checkpoint(path, places[at]);
    if (!bytes.empty() && resume(bytes, *session.value()->reader, session.value()->model)) break;
    ++damaged;
    session = from_begin(path, until_ns);  // what a damaged one left behind is of no use
    if (!session) return session;
  }
  if (damaged > 0)
    session.value()->reader->note(path + " has a damaged checkpoint: all is there, and opening it takes longer.");
  return session;
}

trace::Status save(const std::string &source, const std::string &target, const std::string &session_json,
                   const std::vector<std::string> &open_logs) {
  return trace::save(source, target, session_json, open_logs,
                     [](trace::TraceWriter &writer) { add_checkpoints(writer); });
}

void add_checkpoints(trace::TraceWriter &writer, uint64_t events) {
  auto opened = from_begin(writer.unfinished_path(), trace::SessionReader::kToTheEnd);
  if (!opened) return;
  Session &session = *opened.value();
  trace::Packer packer;
  const uint64_t log_bytes = writer.size();
  uint64_t kept = 0, kept_bytes = 0, due = events;
  for (bool more = true; more && !writer.error();) {
    more = session.poll(std::min(kSlice, events));
    const uint64_t read = session.reader->events();
    // Little is read as fast as a checkpoint.
    if (more ? read < due : read - kept < events / 8) continue;
    const std::vector<std::byte> bytes = checkpoint(*session.reader, session.model);
    const std::span frame = packer.pack(bytes);
    write_checkpoint(writer, session, bytes, frame);
    kept = read;
    kept_bytes += frame.size();
    const auto whole = static_cast<double>(session.reader->events_to_come() + read);
    const double room = static_cast<double>(log_bytes) / 2 / std::max(whole, 1.0);  // an event
    due = std::max(read + events, static_cast<uint64_t>(static_cast<double>(kept_bytes + frame.size()) / room));
  }
}

}  // namespace gmt::session
