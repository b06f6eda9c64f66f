#include "trace/saved/save.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trace/process_runs.h"
#include "trace/saved/container_file.h"
#include "trace/trace_directory.h"

namespace gmt::trace {
namespace {

struct Source {
  std::vector<LogFile> logs;
  std::string session_json;
};

Result<Source> open_logs_of(const std::vector<std::string> &paths, const std::string &directory) {
  Source source;
  source.session_json = read_session_json(directory);
  for (const std::string &path : paths) {
    auto log = LogFile::open(path);
    if (!log) return Error{log.error()};
    if (log.value().ready()) source.logs.push_back(std::move(log.value()));
  }
  if (source.logs.empty()) {
    return Error{"There is nothing to save: no process of the session in " + directory + " has used the GPU yet."};
  }
  return source;
}

Result<Source> open_directory(const std::string &path) {
  auto names = file_names(path, GMT_LOG_SUFFIX);
  if (!names) return Error{names.error()};
  for (std::string &name : names.value()) name = path + "/" + name;
  return open_logs_of(names.value(), path);
}

Result<Source> open_saved(const std::string &path) {
  auto container = read_container(path);
  if (!container) return Error{container.error()};
  Source source;
  source.session_json = container.value().session_json;
  for (const LogSection &section : container.value().logs) {
    auto log = LogFile::open_section(path, section);
    if (!log) return Error{log.error()};
    source.logs.push_back(std::move(log.value()));
  }
  return source;
}

Result<Source> open_source(const std::string &path, const std::vector<std::string> &open_logs) {
  struct stat status;
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (!there && open_logs.empty()) return Error{"Cannot open " + path + ": " + std::strerror(errno) + "."};
  auto source = !there                    ? open_logs_of(open_logs, path)
                : S_ISDIR(status.st_mode) ? open_directory(path)
                                          : open_saved(path);
  if (source) sort_by_start(source.value().logs);
  return source;
}

// Slots of a chunk that belong to events below `cutoff`, records between them included. A damaged place ends the
// search: the rest is taken as it lies there.
uint32_t slots_before(const ChunkView &view, uint64_t cutoff) {
  uint32_t at = 0;
  while (at < view.slots) {
    const auto *slot = reinterpret_cast<const gmt_side_record *>(view.slots_begin + size_t{at} * GMT_SLOT_BYTES);
    uint64_t commit = load_acquire(slot->commit);
    if (commit == 0) break;
    if (!(commit & GMT_SIDE_RECORD_BIT)) {
      if (commit >> 16 >= cutoff) break;
      ++at;
      continue;
    }
    if (slot->slots == 0 || slot->slots > view.slots - at) return view.slots;
    at += slot->slots;
    if (slot->kind == GMT_END_OF_CHUNK) break;
  }
  return at;
}

// Copies what is written. While the process runs, events from `cutoff` on are left out, so that the copy is one moment
// of it although its chunks are copied one after the other.
bool copy_chunk(LogFile &log, uint64_t index, bool running, uint64_t cutoff, std::vector<std::byte> &chunk) {
  const gmt_chunk_header header = log.chunk_header(index);
  if (header.magic == 0 || (running && header.first_sequence >= cutoff && header.magic == GMT_CHUNK_MAGIC))
    return false;
  const ChunkView view = log.chunk(index);
  if (!view.slots_begin) return false;
  uint32_t slots = running ? slots_before(view, cutoff) : view.slots;
  std::fill(chunk.begin(), chunk.end(), std::byte{0});
  std::memcpy(chunk.data(), &header, GMT_CHUNK_HEADER_BYTES);
  std::memcpy(chunk.data() + GMT_CHUNK_HEADER_BYTES, view.slots_begin, size_t{slots} * GMT_SLOT_BYTES);
  return true;
}

PackedChunks write_log(LogFile &log, TraceWriter &writer) {
  gmt_file_header first = log.header();
  const bool running = !log.saved() && (process_runs(first.pid, first.process_start) || log.written_from_outside());
  uint64_t cutoff = log.next_sequence();
  log.refresh();
  LogPacker packer(writer);
  PackedChunks packed{first, {}};
  std::vector<std::byte> chunk(GMT_CHUNK_BYTES);
  for (uint64_t i = 0; i < log.chunk_count() && !writer.error(); ++i) {
    if (copy_chunk(log, i, running, cutoff, chunk)) {
      packer.add(chunk);
      packed.chunks.push_back(i);
    }
    log.release_chunk(i);
  }
  gmt_file_header header = log.header();
  if (running) header.next_sequence = cutoff;
  const auto kept = std::ranges::lower_bound(packed.chunks, header.kept_chunks);
  header.kept_chunks = static_cast<uint64_t>(kept - packed.chunks.begin());
  header.chunk_limit = 0;
  packer.finish(header);
  return packed;
}

}  // namespace

Status save(const std::string &source_path, const std::string &target, const std::string &session_json,
            const std::vector<std::string> &open_logs,
            const std::function<Status(TraceWriter &, const std::vector<PackedChunks> &)> &add) {
  auto source = open_source(source_path, open_logs);
  if (!source) return Error{source.error()};
  TraceWriter writer(target);
  const std::string &text = session_json.empty() ? source.value().session_json : session_json;
  if (!text.empty()) {
    writer.begin_section(GMT_SECTION_SESSION);
    writer.append(std::as_bytes(std::span(text)));
  }
  std::vector<PackedChunks> packed;
  for (LogFile &log : source.value().logs) packed.push_back(write_log(log, writer));
  if (add && !writer.error()) {
    writer.settle();
    if (auto error = add(writer, packed)) return error;
  }
  return writer.finish();
}

}  // namespace gmt::trace
