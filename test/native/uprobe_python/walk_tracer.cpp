// uprobe_python_trace [--awake] LIBRARY SYMBOL OUTPUT -- COMMAND...: runs the command with a probe on the function and the Python
// walk behind it. The command gets a line on stdin once its interpreter was found, or none can be. Each call becomes a line of JSON
// in OUTPUT; the last line tells what was lost.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/log/process_tables.h"
#include "uprobe/python/foreign_process.h"
#include "uprobe/python/interpreters.h"
#include "uprobe/python/python_records.h"
#include "walk.skel.h"

using namespace gmt::uprobe;

namespace {

[[noreturn]] void fail(const std::string &what) {
  fprintf(stderr, "uprobe_python_trace: %s: %s\n", what.c_str(), strerror(errno));
  exit(1);
}

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

struct Event {
  uint32_t thread;
  uint64_t number, ns;
  uint32_t stack;
};

/// One traced process with what its log would hold.
struct Process {
  gmt::trace::ProcessTables tables;
  PythonRecords records{[this](gmt_side_record_kind kind, const void *payload, uint32_t bytes) {
                          return tables.add(kind, {static_cast<const std::byte *>(payload), bytes});
                        },
                        [this](gmt_loss, uint64_t count) { lost += count; }};
  std::vector<Event> events;
  uint64_t lost = 0;
};

struct Trace {
  walk_bpf *bpf = nullptr;
  std::map<uint32_t, std::unique_ptr<Process>> processes;  ///< by pid
  std::map<uint32_t, Process *> threads;                   ///< by number
  uint64_t unknown = 0;                                    ///< records that were refused
};

Process &process_of(Trace &trace, uint32_t pid) {
  auto &process = trace.processes[pid];
  if (!process) process = std::make_unique<Process>();
  return *process;
}

int take(void *context, void *record, size_t bytes) {
  Trace &trace = *static_cast<Trace *>(context);
  const auto *head = static_cast<const gmt_up_head *>(record);
  if (head->type == GMT_UP_THREAD) {
    trace.threads[head->thread] = &process_of(trace, static_cast<const gmt_up_thread *>(record)->pid);
    return 0;
  }
  const auto thread = trace.threads.find(head->thread);
  if (thread == trace.threads.end()) {
    trace.unknown++;
  } else if (head->type == GMT_UP_TENSOR) {
    const auto *call = static_cast<const gmt_up_tensor *>(record);
    thread->second->events.push_back(
        {head->thread, call->address, call->reserved, thread->second->records.stack_id(head->stack)});
  } else if (!thread->second->records.handle(record, bytes)) {
    trace.unknown++;
  }
  return 0;
}

void load(Trace &trace, bool may_sleep) {
  trace.bpf = walk_bpf__open();
  if (!trace.bpf) fail("cannot open the BPF object");
  trace.bpf->rodata->can_sleep = may_sleep;
  bpf_program__set_autoload(trace.bpf->progs.probed_may_sleep, may_sleep);
  bpf_program__set_autoload(trace.bpf->progs.probed_awake, !may_sleep);
  if (walk_bpf__load(trace.bpf)) fail("cannot load the BPF program");
}

bpf_link *attach(Trace &trace, bool may_sleep, const char *library, const char *symbol) {
  const auto bytes = FileBytes::open(library);
  const auto elf = bytes ? ElfFile::read(*bytes) : std::nullopt;
  const ElfSymbol *function = elf ? elf->find(symbol) : nullptr;
  const auto offset = function ? elf->offset_of(function->address, true) : std::nullopt;
  if (!offset) fail(std::string("no such function: ") + symbol);
  LIBBPF_OPTS(bpf_uprobe_opts, options);
  bpf_link *link = bpf_program__attach_uprobe_opts(
      may_sleep ? trace.bpf->progs.probed_may_sleep : trace.bpf->progs.probed_awake, -1, library, *offset, &options);
  if (!link) fail("cannot attach");
  return link;
}

struct Child {
  pid_t pid;
  int go;  ///< its stdin
};

Child start(char **command) {
  int go[2];
  if (pipe2(go, O_CLOEXEC)) fail("cannot make a pipe");
  const pid_t pid = fork();
  if (pid < 0) fail("cannot fork");
  if (pid == 0) {
    dup2(go[0], 0);
    execvp(command[0], command);
    _exit(127);
  }
  close(go[0]);
  return {pid, go[1]};
}

void write_frames(FILE *out, const gmt::trace::Stack &stack) {
  auto quote = [&](const std::string &text) {
    fputc('"', out);
    for (const unsigned char c : text)
      if (c < 0x20 || c == '"' || c == '\\')
        fprintf(out, "\\u%04x", c);
      else
        fputc(c, out);
    fputc('"', out);
  };
  fprintf(out, ",\"cut\":%s,\"frames\":[", stack.cut ? "true" : "false");
  for (size_t i = 0; i < stack.frames.size(); i++) {
    fputs(i ? ",[" : "[", out);
    quote(stack.frames[i].file);
    fputc(',', out);
    quote(stack.frames[i].function);
    fprintf(out, ",%u]", stack.frames[i].line);
  }
  fputs("]", out);
}

void write_process(FILE *out, uint32_t pid, Process &process) {
  for (const Event &event : process.events) {
    fprintf(out, "{\"pid\":%u,\"thread\":%u,\"number\":%lu,\"ns\":%lu,\"stack\":%u", pid, event.thread, event.number,
            event.ns, event.stack);
    const gmt::trace::Stack *stack = event.stack ? process.tables.resolve(event.stack) : nullptr;
    if (stack) write_frames(out, *stack);
    fputs("}\n", out);
  }
}

constexpr uint32_t kPlace = 1;  ///< of the child among the traced processes

gmt_up_target target_of(const Trace &trace) {
  gmt_up_target target = {};
  bpf_map_lookup_elem(bpf_map__fd(trace.bpf->maps.gmt_targets), &kPlace, &target);
  return target;
}

/// Until the child has ended and its records are taken. Returns its wait status.
int follow(ring_buffer *ring, PythonInterpreters &interpreters, const Child &child, bool *found) {
  bool told = false;
  for (int status;;) {
    interpreters.poll(now_ns());
    // There is no event for mapped libraries here.
    if (!*found) interpreters.libraries_changed(1, now_ns());
    if (*found && !told) told = write(child.go, "go\n", 3) == 3;
    ring_buffer__consume(ring);
    usleep(2000);
    if (waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    ring_buffer__consume(ring);
    return status;
  }
}

void write_all(Trace &trace, const char *path, const gmt_up_target &target, int status, const std::string &reason) {
  FILE *out = fopen(path, "we");
  if (!out) fail(path);
  uint64_t refused = trace.unknown;
  for (auto &[pid, process] : trace.processes) {
    write_process(out, pid, *process);
    refused += process->lost;
  }
  fprintf(out, "{\"status\":%d,\"reason\":\"%s\",\"lost\":[%lu,%lu,%lu],\"refused\":%lu}\n",
          WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), reason.c_str(), target.lost[0], target.lost[1],
          target.lost[2], refused);
  fclose(out);
}

}  // namespace

int main(int count, char **arguments) {
  const bool may_sleep = !(count > 1 && strcmp(arguments[1], "--awake") == 0);
  char **rest = arguments + (may_sleep ? 1 : 2);
  if (count < 6 || strcmp(rest[3], "--") != 0) fail("usage: [--awake] LIBRARY SYMBOL OUTPUT -- COMMAND...");
  signal(SIGPIPE, SIG_IGN);
  libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
  Trace trace;
  load(trace, may_sleep);
  bpf_link *link = attach(trace, may_sleep, rest[0], rest[1]);
  ring_buffer *ring = ring_buffer__new(bpf_map__fd(trace.bpf->maps.gmt_ring), take, &trace, nullptr);
  if (!ring) fail("cannot map the ring");

  const Child child = start(rest + 4);
  bool found = false;
  std::string reason;
  PythonInterpreters interpreters(bpf_map__fd(trace.bpf->maps.gmt_interpreters),
                                  [&](pid_t, const PythonTarget &target) {
                                    found = true;
                                    reason = target.reason;
                                  });
  gmt_up_target target = {};
  target.pid = static_cast<uint32_t>(child.pid);
  target.interpreter = interpreters.add(child.pid, now_ns());
  bpf_map_update_elem(bpf_map__fd(trace.bpf->maps.gmt_targets), &kPlace, &target, BPF_ANY);
  bpf_map_update_elem(bpf_map__fd(trace.bpf->maps.gmt_places), &child.pid, &kPlace, BPF_ANY);
  const int status = follow(ring, interpreters, child, &found);

  write_all(trace, rest[2], target_of(trace), status, reason);
  bpf_link__destroy(link);
  walk_bpf__destroy(trace.bpf);
  return 0;
}
