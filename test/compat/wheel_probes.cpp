// What the tracer that attaches from outside finds of autograd in libtorch_cpu.so, by its own code: wheel_probes FILE
#include <cstdio>

#include "uprobe/attach/autograd_probes.h"

using namespace gmt::uprobe;

int main(int, char **arguments) {
  const auto file = FileBytes::open(arguments[1]);
  const auto elf = file ? ElfFile::read(*file) : std::nullopt;
  if (!elf) return 1;
  const AutogradProbes found = find_autograd(*file, *elf);
  std::printf("{\"numbers\": %s, \"evaluations\": %s, \"sequence\": %u, \"thread\": %u}\n",
              found.numbers ? "true" : "false", found.evaluations ? "true" : "false", found.layout.node_sequence,
              found.layout.node_thread);
}
