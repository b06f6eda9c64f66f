#pragma once
// The log of one process, live or inside a saved trace. Chunks are found and bounded here; what is in them is for Merge.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/error.h"
#include "trace/file_map.h"
#include "trace/saved/packed_log.h"
#include "wire/layout.h"

namespace gmt::trace {

/// The slots of a chunk that can be read (fewer than GMT_SLOTS_PER_CHUNK where the file was cut).
struct ChunkView {
  const std::byte *slots_begin;
  uint32_t slots;
};

/// Where a log is in a saved trace.
struct LogSection {
  uint64_t offset;
  uint64_t bytes;
  bool cut;                   ///< the file ends inside it
  uint64_t index_offset = 0;  ///< see saved/packed_log.h
  uint64_t index_bytes = 0;   ///< 0 = it is missing
};

class LogFile {
 public:
  /// Opens the log at `path`. One that its process has not finished creating is no error: refresh() until it is ready().
  static Result<LogFile> open(const std::string &path);
  /// Opens the log in a section of a saved trace.
  static Result<LogFile> open_section(const std::string &path, const LogSection &section);

  bool ready() const { return ready_; }
  /// In a saved trace: nothing will be added.
  bool saved() const { return packed_ != nullptr; }
  /// The saved trace ended inside this log.
  bool cut() const { return cut_; }
  /// Follows the file as it grows. An error where it turns out not to be a log.
  Status refresh();

  /// The header as it is now. Only for a ready() log.
  gmt_file_header header() const;
  uint64_t next_sequence() const { return header_word(&gmt_file_header::next_sequence); }
  bool ended() const { return header_word(&gmt_file_header::ended) != 0; }

  /// A word of the header that the recorder or the process stores.
  uint64_t header_word(uint64_t gmt_file_header::*field) const;
  /// All events from `sequence` on, up to that session time, are retained or will come.
  bool retains(uint64_t sequence, uint64_t until_ns) const;
  /// Another program writes the log, and has not ended.
  bool written_from_outside() const { return header_->driver_source == GMT_DRIVER_UPROBE && map_.locked(); }

  /// Chunks that lie in the file, written or not.
  uint64_t chunk_count() const { return chunks_; }
  /// Magic 0: it is not written yet, or lies outside the file.
  gmt_chunk_header chunk_header(uint64_t index);
  /// Slots of the chunk that lie in the file.
  uint32_t chunk_slots(uint64_t index) const;
  /// Null: it cannot be read. Valid until release_chunk().
  ChunkView chunk(uint64_t index);
  /// All of chunk `index` was read.
  void release_chunk(uint64_t index);
  const std::string &where() const { return where_; }
  /// Where in the file of that name the byte `at` of the log is; of a packed one, the chunk that has it.
  uint64_t file_offset(uint64_t at) const;
  std::string open_path() const { return map_.open_path(); }

 private:
  LogFile(FileMap map, std::string where) : map_(std::move(map)), where_(std::move(where)) {}
  Status check_header();

  FileMap map_;
  std::unique_ptr<PackedLog> packed_;  ///< in a saved trace; map_ shows it
  std::string where_;
  const gmt_file_header *header_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t chunks_ = 0;
  bool ready_ = false;
  bool cut_ = false;
};

/// A word that the traced process may be storing now.
template <class T>
inline T load_acquire(const T &word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

/// Which chunks of a log a saved trace has, in order.
struct PackedChunks {
  gmt_file_header log;
  std::vector<uint64_t> chunks;
};

/// Of the same process, and begun at the same time.
inline bool same_log(const gmt_file_header &one, const gmt_file_header &other) {
  return one.pid == other.pid && one.process_start == other.process_start &&
         one.start_realtime_ns == other.start_realtime_ns;
}

/// In the order in which their processes began.
void sort_by_start(std::vector<LogFile> &logs);

/// Whether a version can be read; else the sentence that says what to do. `what`: "log" or "trace".
Status check_version(const std::string &where, uint32_t version, uint32_t current);

}  // namespace gmt::trace
