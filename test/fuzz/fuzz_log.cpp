// The log and all that is in it. The input is a log without its empty space: a file header (384 bytes), then for each
// chunk 2 bytes of slot count, a chunk header and the slots.
#include <algorithm>
#include <cstring>

#include "trace/log/merge.h"

using namespace gmt;

namespace {

/// The last chunk ends where the input does: a step beyond it is seen, and less memory is taken. Some inputs have it whole.
std::vector<std::byte> expand(const uint8_t *data, size_t size) {
  constexpr size_t kMostBytes = GMT_FILE_HEADER_BYTES + 8 * GMT_CHUNK_BYTES;
  std::vector<std::byte> log(GMT_FILE_HEADER_BYTES);
  const size_t head = std::min(size, sizeof(gmt_file_header));
  std::memcpy(log.data(), data, head);
  for (size_t at = head, place = log.size(); at + 2 <= size && place < kMostBytes; place += GMT_CHUNK_BYTES) {
    const size_t slots = (data[at] | data[at + 1] << 8) % GMT_SLOTS_PER_CHUNK;
    at += 2;
    const size_t bytes = std::min(GMT_CHUNK_HEADER_BYTES + slots * GMT_SLOT_BYTES, size - at);
    log.resize(place + bytes);
    std::memcpy(log.data() + place, data + at, bytes);
    at += bytes;
  }
  if (size % 8 == 0) log.resize(log.size() + GMT_CHUNK_BYTES);
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto opened = trace::LogFile::of_memory(expand(data, size), "input");
  if (!opened) return 0;
  trace::LogFile &log = opened.value();
  trace::ProcessTables tables;
  trace::Merge merge(trace::Clock(log.header(), 0));
  static trace::BatchBuilder batch;
  uint64_t last = 0;
  for (bool sealed : {false, true}) {
    for (bool more = true; more;) {
      batch.clear();
      more = merge.read(log, tables, batch, sealed, 0);
      for (const trace::Event &event : batch.batch(0).events) {
        if (event.sequence <= last) __builtin_trap();
        last = event.sequence;
        tables.resolve(event.stack);
      }
      for (const gmt_driver_detail &detail : batch.batch(0).details) {
        const std::string *path = tables.library(static_cast<uint32_t>(detail.caller));
        if (path && path->size() > GMT_CHUNK_BYTES) __builtin_trap();
      }
    }
  }
  return 0;
}
