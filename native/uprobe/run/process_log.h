#pragma once
// Writes the trace log of one process (layout: wire/layout.h) from outside it. One thread writes for all threads of the
// process, so events lie in one chunk in the order in which they happened.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "wire/clock.h"
#include "wire/files.h"
#include "wire/layout.h"
#include "wire/loss_names.h"

namespace gmt::uprobe {

/// What the head of a log says of its process.
struct LogIdentity {
  uint32_t pid = 0, parent_pid = 0, uid = 0;
  uint64_t process_start = 0;  ///< field 22 of /proc/PID/stat
  bool simulated = false;
};

class ProcessLog {
 public:
  ProcessLog() = default;
  ~ProcessLog() {
    if (chunk_) ::munmap(chunk_, GMT_CHUNK_BYTES);
    if (file_) ::munmap(file_, GMT_FILE_HEADER_BYTES);
  }

  /// Makes `<pid>-<nonce>.gmtlog` in the folder that `directory` is open on; false: errno has the reason. `budget_bytes`: the
  /// log's size limit. `ns`: when it begins, which may be a moment ago.
  bool open(int directory, const LogIdentity &identity, uint64_t budget_bytes, uint64_t ns) {
    char name[64];
    const uint64_t now = monotonic_ns();
    std::snprintf(name, sizeof name, "%u-%llx" GMT_LOG_SUFFIX, identity.pid, static_cast<unsigned long long>(now));
    fd_ = Descriptor(create_named(name, directory));
    if (fd_ < 0) return false;
    file_ = static_cast<gmt_file_header *>(map_piece(fd_, 0, GMT_FILE_HEADER_BYTES));
    if (!file_) {
      const int saved = errno;
      remove_file(name, directory);
      return errno = saved, false;
    }
    // Held as long as this program writes, so that readers do not take the end of the process for the end of its log.
    struct flock writing {
      F_WRLCK, SEEK_SET, 0, 1, 0
    };
    ::fcntl(fd_, F_OFD_SETLK, &writing);
    budget_chunks_ = budget_bytes / GMT_CHUNK_BYTES;
    file_->version = GMT_LOG_VERSION;
    file_->header_bytes = GMT_FILE_HEADER_BYTES;
    file_->chunk_bytes = GMT_CHUNK_BYTES;
    file_->slot_bytes = GMT_SLOT_BYTES;
    file_->pid = identity.pid;
    file_->parent_pid = identity.parent_pid;
    file_->uid = identity.uid;
    file_->clock = GMT_CLOCK_MONOTONIC_NS;
    file_->start_ticks = file_->start_monotonic_ns = last_ns_ = ns;
    file_->start_realtime_ns = clock_ns(CLOCK_REALTIME) - (now - ns);
    file_->driver_source = GMT_DRIVER_UPROBE;
    file_->simulated = identity.simulated;
    file_->process_start = identity.process_start;
    file_->next_sequence = 1;
    __atomic_store_n(&file_->magic, GMT_LOG_MAGIC, __ATOMIC_RELEASE);
    return true;
  }
  bool is_open() const { return file_ != nullptr; }

  /// One event, with a driver record in front of it where `detail` is not null. False: no room, counted.
  bool event(uint16_t thread, uint64_t ns, uint8_t kind, uint8_t device, uint64_t address, uint64_t bytes,
             uint32_t stack, const gmt_driver_detail *detail = nullptr) {
    // The order is that of the records; their times were taken a moment before their places.
    ns = last_ns_ = std::max(ns, last_ns_);
    constexpr uint32_t kMost = 5;  // time base, detail, event
    if (!ensure(kMost, ns)) return false;
    if (ns - base_ns_ > UINT32_MAX) {
      const gmt_time_base base{ns, ns};
      base_ns_ = ns;
      if (!local(thread, GMT_TIME_BASE, &base, sizeof base)) return false;
    }
    if (detail) local(thread, GMT_DRIVER_DETAIL, detail, sizeof *detail);
    auto *at = static_cast<gmt_event *>(slot(next_++));
    at->address = address;
    at->size = gmt_size_field(bytes) << 16 | static_cast<uint64_t>(device) << 8 | kind;
    at->stack = stack;
    at->time = static_cast<uint32_t>(ns - base_ns_);
    const uint64_t sequence = file_->next_sequence;
    __atomic_store_n(&file_->next_sequence, sequence + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&at->commit, sequence << 16 | thread, __ATOMIC_RELEASE);
    events_++;
    return true;
  }
  /// One side record: `head` and, right behind it, `tail`. False: no room, counted.
  bool local(uint16_t thread, gmt_side_record_kind kind, const void *head, uint32_t head_bytes,
             const void *tail = nullptr, uint32_t tail_bytes = 0) {
    const uint32_t bytes = head_bytes + tail_bytes;
    const uint32_t slots = (16 + bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES;
    if (!ensure(slots, last_ns_)) return false;
    auto *at = static_cast<gmt_side_record *>(slot(next_));
    next_ += slots;
    at->kind = static_cast<uint8_t>(kind);
    at->slots = static_cast<uint16_t>(slots);
    at->bytes = bytes;
    char *payload = reinterpret_cast<char *>(at) + 16;
    std::memcpy(payload, head, head_bytes);
    if (tail_bytes) std::memcpy(payload + head_bytes, tail, tail_bytes);
    __atomic_store_n(&at->commit, GMT_SIDE_RECORD_BIT | thread, __ATOMIC_RELEASE);
    return true;
  }
  void note(gmt_note_code code, const std::string &text) {
    const auto bytes = static_cast<uint32_t>(std::min<size_t>(text.size(), 1000));
    const gmt_note head{code, bytes};
    local(0, GMT_NOTE, &head, sizeof head, text.data(), bytes);
  }

  /// Index of the next thread of the process; false: there are too many, counted.
  bool add_thread(uint32_t tid, const char *name, uint16_t *index) {
    if (!file_ || file_->thread_count > UINT16_MAX) return false;
    *index = static_cast<uint16_t>(file_->thread_count);
    __atomic_store_n(&file_->thread_count, file_->thread_count + 1, __ATOMIC_RELAXED);
    const auto bytes = static_cast<uint16_t>(std::strlen(name));
    const gmt_thread_record record{tid, *index, bytes};
    local(*index, GMT_THREAD, &record, sizeof record, name, bytes);
    return true;
  }
  void lose(gmt_loss cause, uint64_t count) {
    if (file_) __atomic_fetch_add(&file_->lost[cause], count, __ATOMIC_RELAXED);
  }
  void set_simulated() {
    if (file_) file_->simulated = 1;
  }
  uint64_t events() const { return events_; }
  uint64_t lost(gmt_loss cause) const { return file_ ? file_->lost[cause] : closed_lost_[cause]; }

  /// The last word: `in_order` says whether the process ended by itself.
  void close(bool in_order) {
    if (!file_) return;
    std::copy_n(file_->lost, GMT_LOST_CAUSES, closed_lost_);
    close_chunk();
    __atomic_store_n(&file_->ended, in_order ? 1u : 0u, __ATOMIC_RELEASE);
    ::munmap(file_, GMT_FILE_HEADER_BYTES);
    file_ = nullptr;
    fd_ = Descriptor();
  }

 private:
  /// Backed with disk space first, so that a full disk is an error here and not a SIGBUS later.
  static void *map_piece(int fd, uint64_t offset, uint64_t bytes) {
    int failed;
    do failed = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    while (failed == EINTR);
    if (failed) return errno = failed, nullptr;
    void *at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, static_cast<off_t>(offset));
    return at == MAP_FAILED ? nullptr : at;
  }

  bool ensure(uint32_t slots, uint64_t ns) {
    if (chunk_ && next_ + slots <= GMT_SLOTS_PER_CHUNK) [[likely]]
      return true;
    if (!file_) return false;
    if (slots > GMT_SLOTS_PER_CHUNK) return lose(GMT_LOST_RECORD_SIZE, 1), false;
    return next_chunk(ns);
  }
  bool next_chunk(uint64_t ns) {
    const uint64_t index = file_->chunks_reserved;
    const uint64_t limit = __atomic_load_n(&file_->chunk_limit, __ATOMIC_RELAXED);
    if (index >= (limit ? limit : budget_chunks_)) return lose(GMT_LOST_BUDGET, 1), false;
    void *piece =
        ns < retry_ns_ ? nullptr : map_piece(fd_, GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES, GMT_CHUNK_BYTES);
    if (!piece) {
      constexpr uint64_t kPause = 100'000'000;  // a full disk is not tried at each event
      if (ns >= retry_ns_) retry_ns_ = ns + kPause, no_room_ = gmt_loss_of(errno);
      return lose(no_room_, 1), false;
    }
    auto *chunk = static_cast<gmt_chunk_header *>(piece);
    close_chunk();
    chunk_ = chunk;
    next_ = 0;
    base_ns_ = ns;
    chunk->index = static_cast<uint32_t>(index);
    chunk->first_sequence = file_->next_sequence;
    chunk->base_ticks = chunk->monotonic_ns = ns;
    __atomic_store_n(&file_->chunks_reserved, index + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&file_->latest_ticks, ns, __ATOMIC_RELAXED);
    __atomic_store_n(&file_->latest_monotonic_ns, ns, __ATOMIC_RELEASE);
    __atomic_store_n(&chunk->magic, GMT_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return true;
  }
  void close_chunk() {
    if (!chunk_) return;
    if (next_ < GMT_SLOTS_PER_CHUNK) {
      auto *end = static_cast<gmt_side_record *>(slot(next_));
      end->kind = GMT_END_OF_CHUNK;
      end->slots = 1;
      __atomic_store_n(&end->commit, GMT_SIDE_RECORD_BIT, __ATOMIC_RELEASE);
    }
    ::munmap(chunk_, GMT_CHUNK_BYTES);
    chunk_ = nullptr;
  }
  void *slot(uint32_t index) { return reinterpret_cast<gmt_event *>(chunk_ + 1) + index; }

  Descriptor fd_;
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
