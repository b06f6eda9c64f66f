#include "uprobe/attach/kernel_side.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cuda/driver_calls.h"
#include "uprobe/attach/call_layout.h"
#include "uprobe/bpf/skeleton.h"
#include "wire/files.h"

namespace gmt::uprobe {
namespace {

constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO
constexpr uint64_t kWakeBytes = 4 << 20;

std::string g_complaints;  ///< libbpf's last message

int keep_complaint(libbpf_print_level level, const char *format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  char text[1024];
  const int n = std::vsnprintf(text, sizeof text, format, arguments);
  constexpr size_t kKept = 16384;
  if (g_complaints.size() < kKept) g_complaints += text;
  return n;
}

/// 0 in the first namespace.
uint32_t own_pid_namespace() {
  struct stat facts {};
  if (::stat("/proc/self/ns/pid", &facts) != 0 || facts.st_ino == kFirstPidNamespace) return 0;
  return static_cast<uint32_t>(facts.st_ino);
}

Problem load_problem(int error) {
  if (error == EPERM || error == EACCES)
    return {"no-privilege",
            "The tracer lacks CAP_BPF and CAP_PERFMON, or the system forbids BPF (lockdown, seccomp); run it as root "
            "or give "
            "its file these capabilities."};
  if (error == ENOSYS)
    return {"no-bpf", "This kernel has no BPF; attaching needs Linux 5.17 or newer with CONFIG_BPF_SYSCALL."};
  return {"no-bpf", "This kernel refused the tracer's BPF programs (" + std::string(std::strerror(error)) +
                        "); attaching needs Linux 5.17 or newer."};
}

/// Runs the program for each task that `options` names; without them for all.
void run_iterator(const bpf_program *program, const bpf_iter_attach_opts *options) {
  bpf_link *link = ::bpf_program__attach_iter(program, options);
  const Descriptor walk(link ? ::bpf_iter_create(::bpf_link__fd(link)) : -1);
  char nothing[16];
  while (walk >= 0 && ::read(walk, nothing, sizeof nothing) > 0) {
  }
  ::bpf_link__destroy(link);
}

}  // namespace

bool multi_links_work() {
  const bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = static_cast<bpf_attach_type>(kUprobeMultiAttachType);
  const Descriptor program(::bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gmt_multi", "GPL", code, std::size(code), &options));
  if (program < 0) return false;
  // A probe on the own file's first byte, which is never run.
  return Descriptor(create_multi_link(program, "/proc/self/exe", {{0, 0}}, false, ::getpid())) >= 0;
}

KernelSide::KernelSide() { ::libbpf_set_print(keep_complaint); }

KernelSide::~KernelSide() {
  if (wish_) ::munmap(wish_, sizeof *wish_);
  if (ring_) ::ring_buffer__free(ring_);
  if (object_) trace_bpf__destroy(object_);
}

Problem KernelSide::load(const KernelSettings &settings) {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0)
    return {"no-btf",
            "This kernel has no type information (/sys/kernel/btf/vmlinux is missing); attaching needs one with "
            "CONFIG_DEBUG_INFO_BTF."};
  object_ = trace_bpf__open();
  if (!object_) return load_problem(errno);
  pid_namespace_ = own_pid_namespace();
  object_->rodata->tracer_pid_namespace = pid_namespace_;
  object_->rodata->wake_bytes = std::min(kWakeBytes, settings.ring_bytes / 4);
  object_->rodata->want_stacks = settings.stacks;
  object_->rodata->want_native_stacks = settings.native_stacks;
  object_->rodata->stop_at_libraries = settings.stop_at_libraries;
  for (uint32_t row = 0; row < GMT_CALL_COUNT; row++) object_->rodata->rows[row] = shape_of(cuda::kCalls[row]);
  ::bpf_map__set_max_entries(object_->maps.gmt_ring, static_cast<uint32_t>(settings.ring_bytes));
  // Programs of such links may sleep, so that the Python walk can fetch memory that is paged out.
  object_->rodata->can_sleep = settings.way == ProbeWay::kMulti;
  bpf_program *program;
  bpf_object__for_each_program(program, object_->obj) {
    const std::string section = ::bpf_program__section_name(program);
    if (settings.way != ProbeWay::kMulti || (section != "uprobe" && section != "uretprobe")) continue;
    ::bpf_program__set_expected_attach_type(program, static_cast<bpf_attach_type>(kUprobeMultiAttachType));
    ::bpf_program__set_flags(program, BPF_F_SLEEPABLE);
  }
  if (!pid_namespace_) ::bpf_program__set_autoload(object_->progs.find_host_pid, false);
  if (!settings.read_memory) ::bpf_program__set_autoload(object_->progs.read_memory, false);
  if (const int failed = trace_bpf__load(object_)) {
    ::fputs(g_complaints.c_str(), stderr);
    return load_problem(-failed);
  }
  ring_ = ::ring_buffer__new(::bpf_map__fd(object_->maps.gmt_ring), deliver, this, nullptr);
  if (!ring_) return load_problem(errno);
  return attach_life();
}

Problem KernelSide::attach_life() {
  const std::pair<bpf_program *, bpf_link **> life[] = {
      {object_->progs.process_forked, &object_->links.process_forked},
      {object_->progs.process_executed, &object_->links.process_executed},
      {object_->progs.process_exited, &object_->links.process_exited}};
  for (const auto &[program, link] : life) {
    *link = ::bpf_program__attach(program);
    if (!*link) return load_problem(errno);
  }
  return {};
}

uint32_t KernelSide::host_pid_of(pid_t pid) {
  if (!pid_namespace_) return static_cast<uint32_t>(pid);
  object_->bss->wanted_pid = static_cast<uint32_t>(pid);
  object_->bss->found_host_pid = 0;
  run_iterator(object_->progs.find_host_pid, nullptr);
  return object_->bss->found_host_pid;
}

/// Before it, BPF has given no place away, and after it BPF alone does.
bool KernelSide::add_target(uint32_t host_pid, const gmt_up_target &target) {
  const uint32_t place = __atomic_add_fetch(&object_->bss->places_used, 1, __ATOMIC_RELAXED);
  return ::bpf_map_update_elem(::bpf_map__fd(object_->maps.gmt_targets), &place, &target, BPF_ANY) == 0 &&
         ::bpf_map_update_elem(::bpf_map__fd(object_->maps.gmt_places), &host_pid, &place, BPF_ANY) == 0;
}

void KernelSide::remove_target(uint32_t host_pid) {
  uint32_t place = 0;
  const int places = ::bpf_map__fd(object_->maps.gmt_places);
  if (::bpf_map_lookup_elem(places, &host_pid, &place) != 0 || ::bpf_map_delete_elem(places, &host_pid) != 0) return;
  ::bpf_map_update_elem(::bpf_map__fd(object_->maps.gmt_free_places), nullptr, &place, BPF_ANY);
}

bool KernelSide::read_target(uint32_t host_pid, gmt_up_target *out) {
  uint32_t place = 0;
  return ::bpf_map_lookup_elem(::bpf_map__fd(object_->maps.gmt_places), &host_pid, &place) == 0 &&
         ::bpf_map_lookup_elem(::bpf_map__fd(object_->maps.gmt_targets), &place, out) == 0;
}

void KernelSide::set_interpreter(uint32_t host_pid, uint32_t place) {
  gmt_up_set_interpreter wish{host_pid, place};
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  options.ctx_in = &wish;
  options.ctx_size_in = sizeof wish;
  ::bpf_prog_test_run_opts(::bpf_program__fd(object_->progs.set_interpreter), &options);
}

bool KernelSide::read_memory(pid_t pid, uint64_t address, void *to, size_t bytes) {
  for (auto *at = static_cast<char *>(to); bytes > 0;) {
    const size_t part = std::min<size_t>(bytes, GMT_UP_READ_BYTES);
    if (!read_part(pid, address, at, part)) return false;
    at += part;
    address += part;
    bytes -= part;
  }
  return true;
}

/// A walk over the process's threads, of which the first answers.
bool KernelSide::read_part(pid_t pid, uint64_t address, void *to, size_t bytes) {
  const int map = ::bpf_map__fd(object_->maps.gmt_read);
  if (!wish_) {
    const size_t room = (sizeof *wish_ + 4095) & ~size_t{4095};
    void *at = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (at == MAP_FAILED) return false;
    wish_ = static_cast<gmt_up_read *>(at);
  }
  *wish_ = {address, static_cast<uint32_t>(bytes), 0, 0, 0, {}};
  // union bpf_iter_link_info of Linux 6.1: a thread, a process, or a descriptor of one.
  struct {
    uint32_t tid, pid, descriptor, reserved;
  } walked{0, static_cast<uint32_t>(pid), 0, 0};
  bpf_iter_attach_opts options{};
  options.sz = sizeof options;
  options.link_info = reinterpret_cast<bpf_iter_link_info *>(&walked);
  options.link_info_len = sizeof walked;
  run_iterator(object_->progs.read_memory, &options);
  if (!wish_->done || wish_->result != 0) return false;
  std::memcpy(to, wish_->data, bytes);
  return true;
}

int KernelSide::interpreters_map() const { return ::bpf_map__fd(object_->maps.gmt_interpreters); }

void KernelSide::set_recording(bool on) { __atomic_store_n(&object_->bss->recording, on ? 1u : 0u, __ATOMIC_SEQ_CST); }

void KernelSide::set_sleeping(bool on) { __atomic_store_n(&object_->bss->sleeping, on ? 1u : 0u, __ATOMIC_SEQ_CST); }

int KernelSide::ring_descriptor() const { return ::ring_buffer__epoll_fd(ring_); }

int KernelSide::deliver(void *self, void *record, size_t bytes) {
  auto &side = *static_cast<KernelSide *>(self);
  side.on_record(record, bytes);
  return --side.left_ == 0 ? -1 : 0;  // a negative answer ends the round; the record counts as taken
}

bool KernelSide::consume(size_t most, uint64_t *taken) {
  left_ = most;
  ::ring_buffer__consume(ring_);
  if (taken) *taken = most - left_;
  return left_ == 0;
}

void KernelSide::consume_all() {
  constexpr size_t kRound = 1 << 16;
  while (consume(kRound)) {
  }
}

}  // namespace gmt::uprobe
