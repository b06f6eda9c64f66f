#include "trace/saved/container_file.h"

#include <algorithm>

#include "trace/file_map.h"
#include "wire/layout.h"

namespace gmt::trace {
namespace {

constexpr uint64_t kAlignment = 4096;
constexpr uint32_t kMaxSections = 1u << 20;
constexpr uint64_t kMaxSessionBytes = 16u << 20;
constexpr uint64_t kMaxCheckpointBytes = 1u << 30;

std::string read_text(FileMap &map, uint64_t offset, uint64_t bytes) {
  bytes = std::min({bytes, kMaxSessionBytes, map.size() - std::min(map.size(), offset)});
  std::string text(bytes, '\0');
  if (!map.copy(offset, bytes, reinterpret_cast<std::byte *>(text.data()))) text.clear();
  return text;
}

void add_checkpoint(FileMap &map, uint64_t offset, uint64_t bytes, Container &out) {
  CheckpointLocation place{offset + sizeof place.header, {}};
  if (!map.copy(offset, sizeof place.header, reinterpret_cast<std::byte *>(&place.header))) return;
  const uint64_t after = out.checkpoints.empty() ? 0 : out.checkpoints.back().header.time_ns;
  if (sound(place.header, bytes) && place.header.time_ns >= after) out.checkpoints.push_back(place);
}

void add_section(FileMap &map, const gmt_section &section, Container &out) {
  if (section.offset % kAlignment != 0 || section.offset >= map.size()) {
    out.cut = true;
    return;
  }
  uint64_t bytes = std::min(section.bytes, map.size() - section.offset);
  bool cut = bytes < section.bytes;
  out.cut |= cut;
  if (section.kind == GMT_SECTION_PACKED_LOG) out.logs.push_back({section.offset, bytes, cut});
  if (section.kind == GMT_SECTION_INDEX && !out.logs.empty() && !cut) {
    out.logs.back().index_offset = section.offset;
    out.logs.back().index_bytes = bytes;
  }
  if (section.kind == GMT_SECTION_CHECKPOINT) add_checkpoint(map, section.offset, bytes, out);
  if (section.kind == GMT_SECTION_SESSION) out.session_json = read_text(map, section.offset, bytes);
}

// False: the table does not lie in the file.
bool read_table(FileMap &map, const gmt_trace_header &header, Container &out) {
  uint64_t bytes = uint64_t{header.section_count} * sizeof(gmt_section);
  if (header.section_count == 0 || header.section_count > kMaxSections || header.table_offset > map.size() ||
      bytes > map.size() - header.table_offset) {
    return false;
  }
  for (uint32_t i = 0; i < header.section_count; ++i) {
    gmt_section section;
    uint64_t offset = header.table_offset + i * sizeof section;
    if (!map.copy(offset, sizeof section, reinterpret_cast<std::byte *>(&section))) return false;
    add_section(map, section, out);
  }
  return true;
}

bool log_begins_at(FileMap &map, uint64_t offset) {
  uint64_t magic = 0;
  return map.copy(offset, sizeof magic, reinterpret_cast<std::byte *>(&magic)) && magic == GMT_LOG_MAGIC;
}

// Where the packed log that begins at `offset` ends; what is behind it begins a page.
uint64_t end_of_log(FileMap &map, uint64_t offset) {
  gmt_packed_chunk chunk;
  for (uint64_t at = offset + kAlignment;; at += sizeof chunk + chunk.bytes) {
    if (!map.copy(at, sizeof chunk, reinterpret_cast<std::byte *>(&chunk))) return map.size();
    if (chunk.magic != GMT_PACKED_MAGIC) return at;
  }
}

// Without a table: the session's text comes first, and a log begins with its magic at a multiple of 4096.
void search(FileMap &map, Container &out) {
  out.cut = true;
  for (uint64_t at = kAlignment; at < map.size();) {
    if (!log_begins_at(map, at)) {
      at += kAlignment;
      continue;
    }
    if (map.size() - at < sizeof(gmt_file_header)) return;
    uint64_t end = end_of_log(map, at);
    // A log that is followed by anything is whole; the last one may miss its end.
    out.logs.push_back({at, end - at, end >= map.size()});
    at = std::max(at + kAlignment, end / kAlignment * kAlignment);
  }
}

void search_session(FileMap &map, Container &out) {
  uint64_t end = out.logs.empty() ? map.size() : out.logs.front().offset;
  if (end <= kAlignment) return;
  std::string text = read_text(map, kAlignment, end - kAlignment);
  text.resize(std::min(text.find('\0'), text.size()));
  if (text.starts_with('{') && text.ends_with('}')) out.session_json = std::move(text);
}

}  // namespace

Result<Container> read_container(const std::string &path) {
  auto opened = FileMap::open(path);
  if (!opened) return Error{opened.error()};
  FileMap &map = opened.value();
  gmt_trace_header header;
  if (!map.copy(0, sizeof header, reinterpret_cast<std::byte *>(&header)) || header.magic != GMT_TRACE_MAGIC) {
    return Error{path + " is not a GPU Memory Trace file."};
  }
  if (auto error = check_version(path, header.version, GMT_TRACE_VERSION)) return *error;
  Container out;
  out.path = path;
  out.bytes = map.size();
  if (header.table_offset != 0)
    out.whole_bytes = header.table_offset + uint64_t{header.section_count} * sizeof(gmt_section);
  if (!read_table(map, header, out)) {
    out.logs.clear();
    search(map, out);
    search_session(map, out);
  }
  if (out.logs.empty()) {
    return Error{path + " is cut short: it ends before the first log, so nothing in it can be read. Save it again."};
  }
  return out;
}

bool sound(const gmt_checkpoint_header &header, uint64_t bytes) {
  return bytes >= sizeof header && header.bytes <= bytes - sizeof header &&
         header.unpacked_bytes <= kMaxCheckpointBytes;
}

std::vector<std::byte> read_checkpoint(const std::string &path, const CheckpointLocation &place) {
  auto map = FileMap::open(path);
  if (!map || map.value().size() < place.offset || map.value().size() - place.offset < place.header.bytes) return {};
  std::vector<std::byte> frame(place.header.bytes), bytes(place.header.unpacked_bytes);
  const bool good = map.value().copy(place.offset, frame.size(), frame.data()) && Unpacker().unpack(frame, bytes);
  return good ? bytes : std::vector<std::byte>{};
}

}  // namespace gmt::trace
