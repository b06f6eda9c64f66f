// The log and all that is in it. The input is a log without its empty space: a file header (384 bytes), then for each
// chunk 2 bytes of slot count, a chunk header and the slots.
#include "container_input.h"
#include "fuzz.h"
#include "memory_file.h"
#include "trace/log/merge.h"

using namespace gmt;

FUZZ(log, const uint8_t *data, size_t size) {
  const test::Bytes file = test::packed(data, size);
  const std::string path = test::memory_file(std::as_bytes(std::span(file)));
  auto opened = trace::LogFile::open_section(path, {test::kPage, file.size(), false});
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
