#pragma once
// Reading other processes' memory: by the system's own call, or by another way where the system forbids that.
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace gmt::uprobe {

/// All of these bytes, or false.
using ForeignReader = std::function<bool(pid_t pid, uint64_t address, void *to, size_t bytes)>;

/// Taken where process_vm_readv is forbidden. One for the program.
void set_foreign_reader(ForeignReader reader);

/// Whether process_vm_readv is forbidden for this process, whatever is read.
bool reading_is_forbidden(pid_t pid);

/// As process_vm_readv with one local buffer: how many bytes could be read before the first that could not; -1 and errno: none.
ssize_t read_process(pid_t pid, const iovec &local, const iovec *remote, size_t count);

}  // namespace gmt::uprobe
