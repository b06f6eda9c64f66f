#pragma once
// A log that is there, written again bit by bit, as its process wrote it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "trace/log/log_file.h"
#include "trace/saved/container_file.h"
#include "trace/trace_directory.h"

namespace gmt::test {

/// The logs of a saved trace or a trace directory, in the order in which a reader numbers their processes.
inline std::vector<trace::LogFile> logs_of(const std::string &path) {
  std::vector<trace::LogFile> logs;
  const auto add = [&](trace::Result<trace::LogFile> log) {
    if (log) logs.push_back(std::move(log.value()));
  };
  if (const auto names = trace::file_names(path, GMT_LOG_SUFFIX)) {
    for (const std::string &name : names.value()) add(trace::LogFile::open(path + "/" + name));
  } else if (const auto container = trace::read_container(path)) {
    for (const trace::LogSection &section : container.value().logs) add(trace::LogFile::open_section(path, section));
  }
  trace::sort_by_start(logs);
  return logs;
}

class GrowingLog {
 public:
  GrowingLog(trace::LogFile from, const std::string &folder) : from_(std::move(from)), written_(from_.chunk_count()) {
    gmt_file_header header = from_.header();
    const std::string path =
        folder + "/" + std::to_string(header.pid) + "-" + std::to_string(header.process_start) + GMT_LOG_SUFFIX;
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0 || ::ftruncate(fd_, GMT_FILE_HEADER_BYTES) != 0) std::abort();
    header.chunks_reserved = header.ended = 0;
    header.next_sequence = 1;
    put(&header, sizeof header, 0);
    void *mapped = ::mmap(nullptr, sizeof header, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (mapped == MAP_FAILED) std::abort();
    header_ = static_cast<gmt_file_header *>(mapped);
  }
  ~GrowingLog() {
    if (header_) ::munmap(header_, sizeof *header_);
    if (fd_ >= 0) ::close(fd_);
  }
  GrowingLog(GrowingLog &&other) noexcept
      : from_(std::move(other.from_)),
        written_(std::move(other.written_)),
        fd_(std::exchange(other.fd_, -1)),
        header_(std::exchange(other.header_, nullptr)) {}
  GrowingLog(const GrowingLog &) = delete;

  /// Writes all that was written before the event `sequence`.
  void grow(uint64_t sequence) {
    for (uint64_t i = 0; i < written_.size(); ++i) {
      const gmt_chunk_header head = from_.chunk_header(i);
      const trace::ChunkView view = from_.chunk(i);
      if (head.magic != 0 && head.first_sequence < sequence && view.slots_begin) grow(i, head, view, sequence);
    }
    header_->next_sequence = std::min(sequence, from_.next_sequence());
  }
  /// Writes what is left.
  void finish() {
    grow(~0ull);
    const gmt_file_header header = from_.header();
    header_->chunks_reserved = header.chunks_reserved;
    header_->ended = header.ended;
  }

 private:
  void grow(uint64_t chunk, const gmt_chunk_header &head, const trace::ChunkView &view, uint64_t sequence) {
    const uint64_t offset = GMT_FILE_HEADER_BYTES + chunk * GMT_CHUNK_BYTES;
    if (header_->chunks_reserved <= chunk) {
      header_->chunks_reserved = chunk + 1;
      if (::ftruncate(fd_, static_cast<off_t>(offset + GMT_CHUNK_BYTES)) != 0) std::abort();
    }
    uint32_t &written = written_[chunk];
    const uint32_t until = sequence == ~0ull ? view.slots : slots_before(view, written, sequence);
    put(view.slots_begin + size_t{written} * GMT_SLOT_BYTES, size_t{until - written} * GMT_SLOT_BYTES,
        offset + GMT_CHUNK_HEADER_BYTES + size_t{written} * GMT_SLOT_BYTES);
    if (written == 0) put(&head, sizeof head, offset);
    written = until;
  }
  /// What was written of a chunk, from the slot `at` on, before that event; records between events included.
  static uint32_t slots_before(const trace::ChunkView &view, uint32_t at, uint64_t sequence) {
    while (at < view.slots) {
      const auto *slot = reinterpret_cast<const gmt_side_record *>(view.slots_begin + size_t{at} * GMT_SLOT_BYTES);
      if (slot->commit == 0 || (!(slot->commit & GMT_SIDE_RECORD_BIT) && slot->commit >> 16 >= sequence)) break;
      at += slot->commit & GMT_SIDE_RECORD_BIT ? std::max<uint32_t>(slot->slots, 1) : 1;
    }
    return std::min(at, view.slots);
  }
  void put(const void *bytes, size_t size, uint64_t offset) const {
    if (::pwrite(fd_, bytes, size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size)) std::abort();
  }

  trace::LogFile from_;
  std::vector<uint32_t> written_;  ///< slots, by chunk
  int fd_ = -1;
  gmt_file_header *header_ = nullptr;
};

}  // namespace gmt::test
