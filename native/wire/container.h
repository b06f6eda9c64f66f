#pragma once
// The layout of a saved trace, `*.gputrace`: a header, sections, and a table of the sections at the end.
//
//   | header 32 B | section bytes, each 4096-aligned | ... | table: gmt_section x section_count |
//
// A log section holds one process's log as it lay on disk, unwritten chunks left out; a file that was cut
// short is found by `table_offset + table` not lying inside it.
#include <stdint.h>

#define GMT_TRACE_MAGIC 0x4543415254555047ull /* the bytes "GPUTRACE" */
#define GMT_TRACE_VERSION 1u

struct gmt_trace_header {
  uint64_t magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t table_offset;
  uint64_t reserved;
};

enum gmt_section_kind {
  GMT_SECTION_LOG = 1,      ///< one process's log
  GMT_SECTION_SESSION = 2,  ///< UTF-8 JSON: what the launcher knows (command, exit statuses, start, product version)
};

struct gmt_section {
  uint32_t kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t bytes;
};

#ifdef __cplusplus
static_assert(sizeof(gmt_trace_header) == 32, "trace header");
static_assert(sizeof(gmt_section) == 24, "section");
#endif
