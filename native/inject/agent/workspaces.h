#pragma once
// Workspaces that PyTorch made for cuBLAS: no Python object has them, and their size alone tells nothing.
#include <stddef.h>
#include <stdint.h>

namespace gmt::inject {

struct Workspace {
  uint64_t address;
  uint8_t device;
};

/// Those that are alive, at most `most`; 0 where this PyTorch keeps them in another way than is known. Copies what it reads, so that
/// a table that another thread changes just now does no harm: it is given up then.
size_t find_workspaces(Workspace *found, size_t most);

}  // namespace gmt::inject
