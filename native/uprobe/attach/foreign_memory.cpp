#include "uprobe/attach/foreign_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace gmt::uprobe {
namespace {

ForeignReader g_reader;

}  // namespace

void set_foreign_reader(ForeignReader reader) { g_reader = std::move(reader); }

bool reading_is_forbidden(pid_t pid) {
  char byte;
  const iovec local{&byte, 1}, remote{nullptr, 1};
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && (errno == EPERM || errno == ENOSYS);
}

bool read_process(pid_t pid, uint64_t address, void *to, size_t bytes) {
  const iovec local{to, bytes}, remote{reinterpret_cast<void *>(address), bytes};
  const ssize_t got = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  if (got == static_cast<ssize_t>(bytes)) return true;
  const bool forbidden = got < 0 && (errno == EPERM || errno == ENOSYS);
  if (forbidden && g_reader && g_reader(pid, address, to, bytes)) return true;
  if (got >= 0 || (forbidden && g_reader)) errno = EFAULT;
  return false;
}

}  // namespace gmt::uprobe
