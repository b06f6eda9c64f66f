#pragma once
// What PyTorch's CUDA allocator had handed out when the tracer came, read from outside the process. Nothing in it is run or changed;
// it goes on meanwhile, so what is read may be of several moments: before_window.h sets that right.
#include <cstdint>
#include <string>
#include <vector>

#include "uprobe/before/memory.h"

namespace gmt::uprobe {

struct BeforeBlock {
  uint64_t address, bytes;
  uint8_t device;
};

struct BeforeMemory {
  std::vector<BeforeBlock> blocks;    ///< handed out
  std::vector<BeforeBlock> segments;  ///< of cudaMalloc, cut into blocks
  std::vector<BeforeBlock> mapped;    ///< expandable segments: what is mapped of each
  bool whole = true;                  ///< no segment changed each time that it was looked at
  bool told = false;                  ///< by PyTorch itself
};

/// What the C++ runtime calls the class of an object, mangled; empty where it cannot be told.
std::string class_name(BoundedMemory &memory, uint64_t object);

/// Reads the allocator at `object`. What is returned says why nothing could be read; empty: it was.
std::string read_torch_allocator(BoundedMemory &memory, uint64_t object, BeforeMemory *out);

}  // namespace gmt::uprobe
