#include "uprobe/attach/self_test.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "uprobe/attach/elf_file.h"
#include "uprobe/attach/kernel_side.h"
#include "uprobe/attach/links.h"
#include "uprobe/bpf/skeleton.h"

/// The function that is probed. The empty statement keeps its calls.
extern "C" __attribute__((noinline, used)) void gmt_self_test_function(unsigned long number) {
  asm volatile("nop" : : "r"(number) : "memory");
}

namespace gmt::uprobe {
namespace {

constexpr uint64_t kRingBytes = 1 << 16;
constexpr unsigned long kFromMain = 0x4d, kFromThread = 0x54;

/// Where the function lies in the program's file.
uint64_t function_offset() {
  const auto file = FileBytes::open("/proc/self/exe");
  const auto elf = file ? ElfFile::read(*file) : std::nullopt;
  if (!elf) return 0;
  const auto *header = reinterpret_cast<const Elf64_Phdr *>(::getauxval(AT_PHDR));
  Elf64_Ehdr head;
  if (!header || !file->read(0, &head, sizeof head)) return 0;
  // Loaded at - linked at: 0 unless the program can be loaded anywhere.
  uint64_t moved = 0;
  for (uint64_t i = 0; i < ::getauxval(AT_PHNUM); i++)
    if (header[i].p_type == PT_PHDR) moved = reinterpret_cast<uintptr_t>(header) - header[i].p_vaddr;
  const uint64_t linked = reinterpret_cast<uintptr_t>(&gmt_self_test_function) - moved;
  return elf->offset_of(linked, true).value_or(0);
}

struct Seen {
  bool from_main = false, from_thread = false;
};

/// Calls the function under a probe of this way; what of the calls arrived.
Seen call_probed(ProbeWay way, Problem *problem) {
  Seen seen;
  KernelSide kernel;
  KernelSettings settings;
  settings.way = way;
  settings.ring_bytes = kRingBytes;
  if ((*problem = kernel.load(settings))) return seen;
  kernel.on_record = [&](const void *record, size_t bytes) {
    const auto *head = static_cast<const gmt_up_head *>(record);
    if (bytes < sizeof *head || head->type != GMT_UP_SELF_TEST) return;
    seen.from_main |= head->flags == kFromMain;
    seen.from_thread |= head->flags == kFromThread;
  };
  Links links(way, ::getpid());
  const int failed = links.attach(kernel.object().progs.self_test, "/proc/self/exe", {{function_offset(), 0}}, false);
  if (failed) {
    *problem = {"no-bpf", std::string("This kernel refuses probes: ") + std::strerror(failed) + "."};
    return seen;
  }
  gmt_self_test_function(kFromMain);
  std::thread([] { gmt_self_test_function(kFromThread); }).join();
  kernel.consume_all();
  return seen;
}

}  // namespace

int self_test(const Rights &rights) {
  const bool btf = ::access("/sys/kernel/btf/vmlinux", R_OK) == 0;
  Problem problem;
  const bool multi = rights.can_trace && multi_links_work();
  Seen by_multi, by_perf;
  bool loaded = false;
  if (rights.can_trace && btf) {
    if (multi) by_multi = call_probed(ProbeWay::kMulti, &problem);
    Problem perf_problem;
    by_perf = call_probed(ProbeWay::kPerf, &perf_problem);
    if (!multi) problem = perf_problem;
    loaded = by_multi.from_main || by_perf.from_main || !problem;
  }
  const bool works = by_multi.from_main || by_perf.from_main;
  std::string message = "Attaching works here.";
  if (!rights.can_trace)
    message = "The tracer lacks CAP_BPF and CAP_PERFMON.";
  else if (!btf)
    message = "This kernel has no type information (/sys/kernel/btf/vmlinux is missing).";
  else if (!works)
    message = problem ? problem.message : "A probe was placed, but it never fired.";
  OutputLine line;
  line.flag("bpf", loaded)
      .flag("btf", btf)
      .flag("uprobeMulti", by_multi.from_main)
      .flag("perfUprobe", by_perf.from_main);
  line.flag("privileged", rights.can_trace).text("message", message).print();
  return works ? 0 : 1;
}

}  // namespace gmt::uprobe
