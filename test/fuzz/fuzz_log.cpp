// The log and all that is in it. The input is a log without its empty space: a file header (384 bytes), then for each
// chunk 2 bytes of slot count, a chunk header and the slots.
#include <algorithm>
#include <cstring>

#include "trace/log/merge.h"

using namespace gmt;

namespace {

std::vector<std::byte> expand(const uint8_t *data, size_t size) {
  std::vector<std::byte> log(GMT_FILE_HEADER_BYTES);
  size_t head = std::min(size, sizeof(gmt_file_header));
  std::memcpy(log.data(), data, head);
  for (size_t at = head; at + 2 <= size && log.size() < 8 * GMT_CHUNK_BYTES;) {
    size_t bytes =
        GMT_CHUNK_HEADER_BYTES + (data[at] | data[at + 1] << 8) % GMT_SLOTS_PER_CHUNK * size_t{GMT_SLOT_BYTES};
    at += 2;
    bytes = std::min(bytes, size - at);
    size_t begin = log.size();
    log.resize(begin + GMT_CHUNK_BYTES);
    std::memcpy(log.data() + begin, data + at, bytes);
    at += bytes;
  }
  // The last chunk ends where the input does, so that a step beyond it is seen.
  if (size % 3 == 0 && log.size() > GMT_FILE_HEADER_BYTES) log.resize(log.size() - size % 4096 * 8);
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto opened = trace::LogFile::of_memory(expand(data, size), "input");
  if (!opened) return 0;
  trace::LogFile &log = opened.value();
  trace::ProcessTables tables;
  trace::Merge merge(trace::Clock(log.header(), 0));
  trace::BatchBuilder batch;
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
