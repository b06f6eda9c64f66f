#pragma once
// Writes the trace log of one process (layout: wire/layout.h) from outside it. One thread writes for all threads of the
// process, so events lie in one chunk in the order in which they happened.
#include <cstdint>
#include <string>

#include "wire/layout.h"

namespace gmt::uprobe {

/// What the head of a log says of its process.
struct LogIdentity {
  uint32_t pid = 0, parent_pid = 0, uid = 0;
  uint64_t process_start = 0;  ///< field 22 of /proc/PID/stat
  bool simulated = false;
};

class LogWriter {
 public:
  LogWriter() = default;
  ~LogWriter();
  LogWriter(const LogWriter &) = delete;
  LogWriter &operator=(const LogWriter &) = delete;

  /// Makes `<pid>-<nonce>.gmtlog` in the folder that `directory` is open on; false: errno says why. `budget_bytes`: the
  /// log's size limit. `ns`: when it begins, which may be a moment ago.
  bool open(int directory, const LogIdentity &identity, uint64_t budget_bytes, uint64_t ns);
  bool is_open() const { return file_ != nullptr; }

  /// One event, with a driver record in front of it where `detail` is not null. False: no room, counted.
  bool event(uint16_t thread, uint64_t ns, uint8_t kind, uint8_t device, uint64_t address, uint64_t bytes,
             uint32_t stack, const gmt_driver_detail *detail = nullptr);
  /// One local record: `head` and, right behind it, `tail`. False: no room, counted.
  bool local(uint16_t thread, gmt_local_kind kind, const void *head, uint32_t head_bytes, const void *tail = nullptr,
             uint32_t tail_bytes = 0);
  void note(gmt_note_code code, const std::string &text);

  /// Index of the next thread of the process; false: there are too many, counted.
  bool add_thread(uint32_t tid, const char *name, uint16_t *index);
  void lose(gmt_loss cause, uint64_t count);
  void set_simulated();
  uint64_t events() const { return events_; }
  uint64_t lost(gmt_loss cause) const;

  /// The last word: `in_order` says whether the process ended by itself.
  void close(bool in_order);

 private:
  bool ensure(uint32_t slots, uint64_t ns);
  bool next_chunk(uint64_t ns);
  void close_chunk();
  void *slot(uint32_t index);

  int fd_ = -1;
  gmt_file_header *file_ = nullptr;
  gmt_chunk_header *chunk_ = nullptr;
  uint32_t next_ = 0;
  uint64_t budget_chunks_ = 0;
  uint64_t last_ns_ = 0, base_ns_ = 0;
  uint64_t events_ = 0;
  uint64_t closed_lost_[GMT_LOST_CAUSES] = {};  ///< what was lost when it was closed
  uint64_t retry_ns_ = 0;                       ///< after a chunk could not be had, the next try
  gmt_loss no_room_ = GMT_LOST_DISK_FULL;       ///< why it could not
};

}  // namespace gmt::uprobe
