#include "trace/saved/trace_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gmt::trace {

namespace {
constexpr uint64_t kAlignment = 4096;
}

TraceWriter::TraceWriter(std::string target) : target_(std::move(target)), path_parts_(split_path(target_.c_str())) {
  if (path_parts_.folder >= 0) fd_ = Descriptor(create_file(path_parts_.folder, path_parts_.name, temporary_, 0666));
  if (fd_ < 0) fail("create");
  end_ = sizeof(gmt_trace_header);
}

TraceWriter::~TraceWriter() {
  if (fd_ >= 0) remove_file(temporary_, path_parts_.folder);
}

void TraceWriter::fail(const char *doing) {
  if (error_) return;
  error_ = Error{std::string("Cannot ") + doing + " " + target_ + ": " + std::strerror(errno) + "."};
}

bool write_all(int fd, uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    offset += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return true;
}

void TraceWriter::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  if (!error_ && !write_all(fd_, offset, bytes)) fail("write");
}

void TraceWriter::begin_section(gmt_section_kind kind) {
  end_ = (end_ + kAlignment - 1) / kAlignment * kAlignment;
  sections_.push_back({static_cast<uint32_t>(kind), 0, end_, 0});
}

void TraceWriter::append(std::span<const std::byte> bytes) {
  bool zero = true;
  for (size_t at = 0; at < bytes.size();) {
    size_t count = std::min<size_t>(kAlignment, bytes.size() - at);
    const std::span page = bytes.subspan(at, count);
    // Zeros are left out, but for those where readers see that nothing follows: touching a hole of a mapped file needs
    // space for it, and a full tmpfs answers with SIGBUS.
    const bool after_data = !zero;
    zero = std::ranges::all_of(page, [](std::byte b) { return b == std::byte{0}; });
    if (!zero || after_data) write_at(end_, page);
    at += count;
    end_ += count;
  }
  sections_.back().bytes += bytes.size();
}

void TraceWriter::rewrite(uint64_t offset, std::span<const std::byte> bytes) {
  write_at(sections_.back().offset + offset, bytes);
}

void TraceWriter::settle() {
  gmt_trace_header header{GMT_TRACE_MAGIC, GMT_TRACE_VERSION, static_cast<uint32_t>(sections_.size()),
                          (end_ + 7) / 8 * 8, 0};
  write_at(header.table_offset, std::as_bytes(std::span(sections_)));
  write_at(0, std::as_bytes(std::span(&header, 1)));
}

Status TraceWriter::finish() {
  settle();
  if (!error_ && ::fsync(fd_) != 0) fail("write");
  if (!error_ && !rename_in(path_parts_.folder, temporary_, path_parts_.name)) fail("create");
  if (error_) return error_;
  fd_ = Descriptor();
  ::fsync(path_parts_.folder);  // the name is as durable as the bytes
  return std::nullopt;
}

}  // namespace gmt::trace
