#include "uprobe/attach/foreign_memory.h"

#include <algorithm>
#include <cerrno>

namespace gmt::uprobe {
namespace {

ForeignReader g_reader;

ssize_t read_otherwise(pid_t pid, const iovec &local, const iovec *remote, size_t count) {
  size_t done = 0;
  for (size_t i = 0; i < count && done < local.iov_len; i++) {
    const size_t bytes = std::min(remote[i].iov_len, local.iov_len - done);
    if (!g_reader(pid, reinterpret_cast<uintptr_t>(remote[i].iov_base), static_cast<char *>(local.iov_base) + done,
                  bytes))
      break;
    done += bytes;
  }
  if (done > 0) return static_cast<ssize_t>(done);
  errno = EFAULT;
  return -1;
}

}  // namespace

void set_foreign_reader(ForeignReader reader) { g_reader = std::move(reader); }

bool reading_is_forbidden(pid_t pid) {
  char byte;
  const iovec local{&byte, 1}, remote{nullptr, 1};
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && (errno == EPERM || errno == ENOSYS);
}

ssize_t read_process(pid_t pid, const iovec &local, const iovec *remote, size_t count) {
  const ssize_t got = ::process_vm_readv(pid, &local, 1, remote, count, 0);
  if (got >= 0 || !g_reader || (errno != EPERM && errno != ENOSYS)) return got;
  return read_otherwise(pid, local, remote, count);
}

}  // namespace gmt::uprobe
