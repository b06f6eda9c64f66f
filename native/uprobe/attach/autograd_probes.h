#pragma once
// Where PyTorch's autograd is probed, and what its library's code and symbols say about where it keeps things.
#include <optional>
#include <span>

#include "uprobe/attach/elf_file.h"
#include "uprobe/bpf/autograd_ring.h"

namespace gmt::uprobe {

/// A thread-local variable as a library's code reaches it.
struct ThreadLocal {
  uint32_t probe;  ///< bytes from the function's begin to where a probe before the read is cheapest
  uint64_t index;  ///< address as linked of the tls_index that it passes
  int32_t offset;  ///< of the variable behind what the call returns
};

/// What a function that begins at `address` reads first of its thread's data, for x86-64; none: the code is of another shape.
std::optional<ThreadLocal> find_thread_local(std::span<const std::byte> code, uint64_t address);

struct AutogradProbes {
  std::optional<uint64_t> numbers;      ///< offset in the file of the probe on new nodes' numbers
  std::optional<uint64_t> evaluations;  ///< offset in the file of the probe on nodes that begin to run
  gmt_up_torch layout;
  bool unreadable = false;  ///< there is autograd in the file, but not as it is known
};

AutogradProbes find_autograd(const FileBytes &file, const ElfFile &elf);

}  // namespace gmt::uprobe
