#pragma once
// Reading other processes' memory: by the system's own call, or by another way where the system forbids that.
#include <sys/types.h>

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

/// False: not all of it could be read; errno has the reason.
bool read_process(pid_t pid, uint64_t address, void *to, size_t bytes);

}  // namespace gmt::uprobe
