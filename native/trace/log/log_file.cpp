#include "trace/log/log_file.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <tuple>

namespace gmt::trace {

Status check_version(const std::string &where, uint32_t version, uint32_t current) {
  if (version == current) return std::nullopt;
  if (version < current) {
    return Error{where + " has format " + std::to_string(version) + ", which this GPU Memory Trace cannot read."};
  }
  return Error{where + " was written by a newer version (format " + std::to_string(version) + ", this program reads " +
               std::to_string(current) + "): update GPU Memory Trace."};
}

Result<LogFile> LogFile::open(const std::string &path) {
  auto map = FileMap::open_in(path);
  if (!map) return Error{map.error()};
  LogFile log(std::move(map.value()), path);
  if (auto error = log.refresh()) return *error;
  return log;
}

Result<LogFile> LogFile::open_section(const std::string &path, const LogSection &section) {
  auto map = FileMap::open(path, section.offset, section.bytes);
  if (!map) return Error{map.error()};
  LogFile log(std::move(map.value()), path);
  log.begin_ = section.offset;
  log.cut_ = section.cut;
  std::vector<std::byte> index;
  auto place = FileMap::open(path, section.index_offset, section.index_bytes);
  if (place && section.index_bytes) index.resize(place.value().size());
  if (!index.empty() && !place.value().copy(0, index.size(), index.data())) index.clear();
  log.packed_ = std::make_unique<PackedLog>(log.map_, index);
  if (auto error = log.refresh()) return *error;
  if (!log.ready())
    return Error{path + " holds a log without a header at byte " + std::to_string(section.offset) + "."};
  return log;
}

Status LogFile::refresh() {
  map_.refresh();
  if (!ready_) {
    if (auto error = check_header()) return error;
    if (!ready_) return std::nullopt;
  }
  if (packed_) {
    chunks_ = packed_->chunks();
    return std::nullopt;
  }
  uint64_t size = map_.size();
  uint64_t body = size > GMT_FILE_HEADER_BYTES ? size - GMT_FILE_HEADER_BYTES : 0;
  chunks_ = std::max(chunks_, body / GMT_CHUNK_BYTES);
  return std::nullopt;
}

Status LogFile::check_header() {
  const std::byte *bytes = map_.at(0, sizeof(gmt_file_header));
  if (!bytes) return std::nullopt;
  const auto *header = reinterpret_cast<const gmt_file_header *>(bytes);
  uint64_t magic = load_acquire(header->magic);
  if (magic == 0 && !saved()) return std::nullopt;
  if (magic != GMT_LOG_MAGIC) return Error{where_ + " is not a GPU Memory Trace log."};
  if (auto error = check_version(where_, header->version, GMT_LOG_VERSION)) return error;
  if (header->header_bytes != GMT_FILE_HEADER_BYTES || header->chunk_bytes != GMT_CHUNK_BYTES ||
      header->slot_bytes != GMT_SLOT_BYTES) {
    return Error{where_ + " has a damaged header: its sizes are not those of log version " +
                 std::to_string(header->version) + "."};
  }
  header_ = header;
  ready_ = true;
  return std::nullopt;
}

uint64_t LogFile::file_offset(uint64_t at) const {
  const uint64_t chunk = (std::max<uint64_t>(at, GMT_FILE_HEADER_BYTES) - GMT_FILE_HEADER_BYTES) / GMT_CHUNK_BYTES;
  return begin_ + (packed_ && chunk < packed_->chunks() ? packed_->place(chunk) : at);
}

uint64_t LogFile::header_word(uint64_t gmt_file_header::*field) const { return load_acquire(header_->*field); }

bool LogFile::retains(uint64_t sequence, uint64_t until_ns) const {
  const uint64_t gone = header_word(&gmt_file_header::gone_sequence);  // stored after the retained range
  return sequence >= gone || (sequence <= header_word(&gmt_file_header::kept_sequence) &&
                              until_ns <= header_word(&gmt_file_header::kept_ns));
}

gmt_file_header LogFile::header() const {
  gmt_file_header copy;
  std::memcpy(&copy, header_, sizeof copy);
  // Written as two words, the second of them 0 meanwhile: take the pair only where it did not change in between.
  copy.latest_monotonic_ns = load_acquire(header_->latest_monotonic_ns);
  copy.latest_ticks = load_acquire(header_->latest_ticks);
  if (load_acquire(header_->latest_monotonic_ns) != copy.latest_monotonic_ns || copy.latest_monotonic_ns == 0)
    copy.latest_ticks = copy.latest_monotonic_ns = 0;
  return copy;
}

uint32_t LogFile::chunk_slots(uint64_t index) const {
  if (packed_) return index < chunks_ ? packed_->chunk(index).slots : 0;
  const uint64_t offset = GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES;
  const uint64_t bytes = std::min<uint64_t>(GMT_CHUNK_BYTES, map_.size() - std::min(map_.size(), offset));
  return static_cast<uint32_t>((std::max<uint64_t>(bytes, GMT_CHUNK_HEADER_BYTES) - GMT_CHUNK_HEADER_BYTES) /
                               GMT_SLOT_BYTES);
}

gmt_chunk_header LogFile::chunk_header(uint64_t index) {
  gmt_chunk_header header{};
  if (index >= chunks_) return header;
  if (packed_) return packed_->chunk(index).header;
  const uint64_t offset = GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES;
  // A chunk that was never written is a hole; to touch it in the mapping takes space, and a full tmpfs answers with SIGBUS.
  auto *bytes = reinterpret_cast<std::byte *>(&header);
  if (!map_.copy(offset, sizeof header.magic, bytes) || header.magic == 0) return {};
  std::atomic_thread_fence(std::memory_order_acquire);  // the magic is stored last
  return map_.copy(offset, sizeof header, bytes) ? header : gmt_chunk_header{};
}

ChunkView LogFile::chunk(uint64_t index) {
  if (chunk_header(index).magic == 0) return {nullptr, 0};
  if (packed_) {
    const std::span<const std::byte> slots = packed_->slots(map_, index);
    return {slots.data(), static_cast<uint32_t>(slots.size() / GMT_SLOT_BYTES)};
  }
  const uint32_t slots = chunk_slots(index);
  const uint64_t offset = GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES;
  const std::byte *start = map_.at(offset, GMT_CHUNK_HEADER_BYTES + uint64_t{slots} * GMT_SLOT_BYTES);
  return start ? ChunkView{start + GMT_CHUNK_HEADER_BYTES, slots} : ChunkView{nullptr, 0};
}

void sort_by_start(std::vector<LogFile> &logs) {
  const auto key = [](const LogFile &log) {
    const gmt_file_header h = log.header();
    return std::make_tuple(h.start_realtime_ns, h.pid, h.process_start);
  };
  std::stable_sort(logs.begin(), logs.end(), [&](const LogFile &a, const LogFile &b) { return key(a) < key(b); });
}

void LogFile::release_chunk(uint64_t index) {
  if (packed_) return packed_->forget(index);
  map_.forget(GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES, GMT_CHUNK_BYTES);
}

}  // namespace gmt::trace
