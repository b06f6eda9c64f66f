#include "uprobe/attach/library_probes.h"

#include <set>

#include "cuda/driver_calls.h"
#include "uprobe/attach/probe_place.h"

namespace gmt::uprobe {
namespace {

constexpr uint64_t context_cookie(gmt_up_context_op op, uint32_t device_argument = 0) {
  return static_cast<uint64_t>(op) | device_argument << 8;
}

struct NamedProbe {
  std::string_view name;
  uint64_t cookie;
};

/// Calls that make a context current, or name a context's device.
constexpr NamedProbe kContextCalls[] = {
    {"cuCtxSetCurrent", context_cookie(GMT_UP_CONTEXT_SET)},
    {"cuCtxPushCurrent_v2", context_cookie(GMT_UP_CONTEXT_PUSH)},
    {"cuCtxPopCurrent_v2", context_cookie(GMT_UP_CONTEXT_POP)},
    {"cuCtxCreate_v2", context_cookie(GMT_UP_CONTEXT_CREATE, 2)},
    {"cuCtxCreate_v3", context_cookie(GMT_UP_CONTEXT_CREATE, 4)},
    {"cuCtxCreate_v4", context_cookie(GMT_UP_CONTEXT_CREATE, 3)},
    {"cuDevicePrimaryCtxRetain", context_cookie(GMT_UP_CONTEXT_RETAIN, 1)},
};
constexpr NamedProbe kContextGetters[] = {
    {"cuCtxGetCurrent", context_cookie(GMT_UP_CONTEXT_GET)},
    {"cuCtxGetDevice", context_cookie(GMT_UP_CONTEXT_GET_DEVICE)},
};

/// PyTorch 1.10 to 2.14; see inject/hooks/tensor_layer.cpp.
constexpr NamedProbe kReports[] = {
    {"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", GMT_UP_REPORT},
    {"_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE", GMT_UP_REPORT},
    {"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE", GMT_UP_REPORT_OOM},
    {"_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE", GMT_UP_REPORT_OOM},
};

class Finder {
 public:
  Finder(const FileBytes &file, const ElfFile &elf) : file_(file), elf_(elf) {}

  /// Adds a probe on the function of this name. Two names of one function are one probe: the first.
  void add(std::string_view name, uint64_t cookie, bool with_return, std::vector<ProbePoint> *to) {
    const ElfSymbol *symbol = elf_.find(name);
    if (!symbol || !symbol->function || !seen_.insert(symbol->address).second) return;
    const auto place = elf_.offset_of(symbol->address, true);
    if (!place) return;
    to->push_back({*place + probe_place(elf_.code_of(file_, *symbol), with_return), cookie});
  }

 private:
  const FileBytes &file_;
  const ElfFile &elf_;
  std::set<uint64_t> seen_;
};

void find_driver_probes(const FileBytes &file, const ElfFile &elf, LibraryProbes *out) {
  Finder calls(file, elf), contexts(file, elf);
  for (uint32_t row = 0; row < GMT_CALL_COUNT; row++) calls.add(cuda::kCalls[row].name, row, true, &out->calls);
  for (const NamedProbe &call : kContextCalls) contexts.add(call.name, call.cookie, true, &out->contexts);
  for (const NamedProbe &call : kContextGetters) contexts.add(call.name, call.cookie, true, &out->getters);
  out->simulated = elf.find("gpu_memtrace_simulator") != nullptr;
}

/// The linker calls this function around every change; the cookie is the distance from it to the state of the change.
void find_linker_probe(const FileBytes &file, const ElfFile &elf, LibraryProbes *out) {
  const ElfSymbol *state = elf.find("_r_debug");
  const ElfSymbol *hook = elf.find("_dl_debug_state");
  if (!hook) return;
  Finder finder(file, elf);
  finder.add("_dl_debug_state", 0, false, &out->linker);
  if (out->linker.empty() || !state) return;
  const uint64_t shift = out->linker[0].offset - *elf.offset_of(hook->address, true);
  out->linker[0].cookie = state->address - (hook->address + shift);
}

bool is_version_of(std::string_view name, std::string_view library) {
  return name.starts_with(library) && (name.size() == library.size() || name[library.size()] == '.');
}

}  // namespace

LibraryRole role_of(std::string_view name) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  if (is_version_of(name, "libcuda.so")) return LibraryRole::kDriver;
  if (is_version_of(name, "libc10.so")) return LibraryRole::kTensor;
  if (is_version_of(name, "libtorch_cpu.so")) return LibraryRole::kAutograd;
  if (name.starts_with("ld-linux") || name.starts_with("ld-musl") || (name.starts_with("ld-") && name.ends_with(".so")))
    return LibraryRole::kLinker;
  if (is_version_of(name, "libc.so") || (name.starts_with("libc-") && name.ends_with(".so"))) return LibraryRole::kC;
  return LibraryRole::kNone;
}

size_t LibraryProbes::count() const {
  return 2 * (calls.size() + contexts.size() + getters.size()) + reports.size() + linker.size() + ending.size() +
         autograd.numbers.has_value() + autograd.evaluations.has_value();
}

LibraryProbes find_probes(LibraryRole role, const FileBytes &file, const ElfFile &elf) {
  LibraryProbes out;
  Finder finder(file, elf);
  switch (role) {
    case LibraryRole::kDriver:
      find_driver_probes(file, elf, &out);
      break;
    case LibraryRole::kTensor:
      for (const NamedProbe &report : kReports) finder.add(report.name, report.cookie, false, &out.reports);
      break;
    case LibraryRole::kAutograd:
      out.autograd = find_autograd(file, elf);
      break;
    case LibraryRole::kLinker:
      find_linker_probe(file, elf, &out);
      break;
    case LibraryRole::kC:
      finder.add("exit", 0, false, &out.ending);
      break;
    case LibraryRole::kNone:
      break;
  }
  return out;
}

}  // namespace gmt::uprobe
