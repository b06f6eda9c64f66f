#pragma once
// Which functions of a mapped file are probed, and where.
#include <string_view>
#include <vector>

#include "uprobe/attach/autograd_probes.h"
#include "uprobe/attach/elf_file.h"
#include "uprobe/attach/links.h"

namespace gmt::uprobe {

/// What a file is to the tracer, by its name.
enum class LibraryRole {
  kNone,
  kDriver,    ///< libcuda.so*
  kTensor,    ///< libc10.so*: PyTorch's reports
  kAutograd,  ///< libtorch_cpu.so: PyTorch's autograd
  kLinker,    ///< the dynamic linker: reports libraries that come later
  kC,         ///< the C library: the process's end in order
};
LibraryRole role_of(std::string_view file_name);

struct LibraryProbes {
  std::vector<ProbePoint> calls;     ///< at entry and return
  std::vector<ProbePoint> contexts;  ///< at entry and return
  std::vector<ProbePoint> getters;   ///< as contexts, and called often: left out where no answer is needed
  std::vector<ProbePoint> reports;
  std::vector<ProbePoint> linker;
  std::vector<ProbePoint> ending;
  AutogradProbes autograd{};
  bool simulated = false;

  size_t count() const;
};

LibraryProbes find_probes(LibraryRole role, const FileBytes &file, const ElfFile &elf);

}  // namespace gmt::uprobe
