#pragma once
// The layout of a saved trace, `*.gputrace`: a header, sections, and a table of the sections at the end.
//
//   | header 32 B | section bytes, each 4096-aligned | ... | table: gmt_section x section_count |
//
// A packed log is the header of one process's log, padded to 4096 bytes, and its written chunks, packed:
//
//   | gmt_file_header, zeros | gmt_packed_chunk, a zstd frame | gmt_packed_chunk, a zstd frame | ... |
//
// A file that was cut short is found by `table_offset + table` not lying inside it.
#include <stdint.h>

#include "layout.h"

#define GMT_TRACE_MAGIC 0x4543415254555047ull /* the bytes "GPUTRACE" */
#define GMT_TRACE_VERSION 4u

struct gmt_trace_header {
  uint64_t magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t table_offset;
  uint64_t reserved;
};

enum gmt_section_kind {
  GMT_SECTION_SESSION = 2,     ///< UTF-8 JSON: the launcher's facts (command, exit statuses, start, product version)
  GMT_SECTION_PACKED_LOG = 3,  ///< one process's log
  GMT_SECTION_INDEX = 4,       ///< of the packed log before it: gmt_packed_place, one a chunk
  GMT_SECTION_CHECKPOINT = 5,  ///< gmt_checkpoint_header, and a zstd frame
};

#define GMT_PACKED_MAGIC 0x4b434150u /* "PACK" */

/// Before the frame of a chunk. Unpacked, that has gmt_packed_kinds, the kinds, a byte for each record that says its kind, in the
/// order of the chunk, and then the records, kind by kind and each kind column by column: their first bytes, their second bytes, ...
struct gmt_packed_chunk {
  uint32_t magic;    ///< GMT_PACKED_MAGIC
  uint32_t bytes;    ///< of the frame
  uint32_t slots;    ///< those behind are zeros, also where a record continues there
  uint32_t columns;  ///< bytes of all that
  struct gmt_chunk_header header;
};

struct gmt_packed_kinds {
  uint32_t kinds;
  uint32_t records;
};

/// What takes as many slots, and is alike.
struct gmt_packed_kind {
  uint16_t slots;        ///< of each record
  uint16_t differences;  ///< 1: the first 8 bytes and the last 4, as numbers, are differences to the record before
};

struct gmt_packed_place {
  uint64_t offset;  ///< of the gmt_packed_chunk in its section
  struct gmt_packed_chunk chunk;
};

/// What a model made of all events before a place in the logs; see native/session.
struct gmt_checkpoint_header {
  uint64_t time_ns;  ///< of the session: no event before that place is later
  uint64_t bytes;    ///< of the frame
  uint64_t unpacked_bytes;
  uint64_t version;  ///< of what the frame holds: another one is left alone
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
static_assert(sizeof(gmt_packed_chunk) == 80, "packed chunk");
static_assert(sizeof(gmt_packed_kinds) == 8 && sizeof(gmt_packed_kind) == 4, "packed kinds");
static_assert(sizeof(gmt_packed_place) == 88, "packed place");
static_assert(sizeof(gmt_checkpoint_header) == 32, "checkpoint");
#endif
