// Texts of others that the tracers take apart. The input's first byte says which: what a process has mapped (/proc/PID/maps), the
// code of a function, a request's file and its name.
#include <cstdio>
#include <cstring>
#include <string>

#include "fuzz.h"
#include "inject/agent/requests.cpp"
#include "uprobe/attach/autograd_probes.h"
#include "uprobe/attach/probe_place.h"
#include "uprobe/python/foreign_process.h"

using namespace gmt;

namespace {

void read_maps(std::string text) {
  FILE *maps = text.empty() ? nullptr : ::fmemopen(text.data(), text.size(), "r");
  if (!maps) return;
  for (const uprobe::MappedFile &file : uprobe::read_mappings(maps)) {
    if (file.inode == 0 || file.ranges.empty() || !file.path.starts_with('/')) __builtin_trap();
    if (file.name().find('/') != std::string_view::npos) __builtin_trap();
    file.address_of(file.ranges.front().offset);
  }
  ::fclose(maps);
}

void read_code(const std::string &code) {
  const std::span bytes = std::as_bytes(std::span(code));
  for (const bool keeps_stack : {false, true})
    if (uprobe::probe_place(bytes, keeps_stack) > code.size()) __builtin_trap();
  uprobe::find_thread_local(bytes, 0x1000);
}

}  // namespace

FUZZ(text, const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      read_maps(text);
      break;
    case 1:
      inject::number_in(text.c_str());
      inject::is_ours(text.c_str());
      break;
    case 2:
      read_code(text);
      break;
  }
  return 0;
}
