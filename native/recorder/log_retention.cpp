#include "recorder/log_retention.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gmt::recorder {
namespace {

template <class Word>
Word load(const Word &word) {
  return __atomic_load_n(&word, __ATOMIC_SEQ_CST);
}
void store(uint64_t &word, uint64_t value) { __atomic_store_n(&word, value, __ATOMIC_SEQ_CST); }

bool punch(int fd, uint64_t offset, uint64_t bytes) {
  int result;
  do
    result = ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                         static_cast<off_t>(bytes));
  while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

LogRetention::LogRetention(const std::string &path) : fd_(open_file(path.c_str(), O_RDWR, FileLinks::kRefused)) {
  if (fd_ < 0) return;
  void *mapped = ::mmap(nullptr, sizeof(gmt_file_header), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapped != MAP_FAILED) header_ = static_cast<gmt_file_header *>(mapped);
  if (header_) done_ = header_->kept_chunks;
}

LogRetention::~LogRetention() {
  if (header_) ::munmap(header_, sizeof *header_);
}

uint64_t LogRetention::reserved() const { return header_ ? load(header_->chunks_reserved) : 0; }

uint64_t LogRetention::disk_bytes() const {
  struct stat about;
  return fd_ >= 0 && ::fstat(fd_, &about) == 0 ? static_cast<uint64_t>(about.st_blocks) * 512 : 0;
}

void LogRetention::limit(uint64_t chunks) {
  if (header_) store(header_->chunk_limit, std::max<uint64_t>(chunks, 1));
}

void LogRetention::retain(const trace::Merge::ReadPosition &position, uint64_t ns) {
  if (!header_ || header_->gone_sequence) return;
  done_ = position.begun;
  store(header_->kept_chunks, position.begun);
  store(header_->kept_sequence, position.sequence);
  store(header_->kept_ns, ns);
}

void LogRetention::punch_chunks(uint64_t begin, uint64_t end) const {
  punch(fd_, GMT_FILE_HEADER_BYTES + begin * GMT_CHUNK_BYTES, (end - begin) * GMT_CHUNK_BYTES);
}

void LogRetention::punch_before(const trace::Merge::ReadPosition &position) {
  if (!header_ || position.sequence <= std::max(header_->gone_sequence, header_->kept_sequence)) return;
  store(header_->gone_sequence, position.sequence);
  // In a file in memory, a reader that came too late has taken pages of holes.
  for (const auto &[begin, end] : last_runs_) punch_chunks(begin, end);
  last_runs_.clear();
  std::vector<uint64_t> left;
  const auto add = [&](uint64_t chunk) {
    if (std::ranges::binary_search(position.unfinished, chunk)) return left.push_back(chunk);
    if (last_runs_.empty() || last_runs_.back().second != chunk) last_runs_.push_back({chunk, chunk});
    ++last_runs_.back().second;
  };
  for (const uint64_t chunk : left_) add(chunk);
  for (; done_ < position.found; ++done_) add(done_);
  left_ = std::move(left);
  for (const auto &[begin, end] : last_runs_) punch_chunks(begin, end);
  store(header_->cleared_sequence, position.sequence);
}

bool can_punch(const std::string &directory) {
  const Descriptor fd(open_file((directory + "/recorder").c_str(), O_RDWR | O_CREAT, FileLinks::kRefused));
  return fd >= 0 && punch(fd, 1 << 20, 4096);
}

}  // namespace gmt::recorder
