#pragma once
// The BPF programs in the kernel: loading them, what they get, what they count.
#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "uprobe/attach/links.h"
#include "uprobe/bpf/ring.h"
#include "uprobe/run/output_line.h"

struct trace_bpf;
struct ring_buffer;

namespace gmt::uprobe {

struct KernelSettings {
  ProbeWay way = ProbeWay::kMulti;
  uint64_t ring_bytes = 0;
  bool stacks = true;
  bool native_stacks = false;  ///< where there is no Python stack
  bool stop_at_libraries = false;
  bool read_memory = false;  ///< `read_memory` will be called
};

/// Whether this kernel lets us attach many probes with one link.
bool multi_links_work();

class KernelSide {
 public:
  KernelSide();
  ~KernelSide();
  KernelSide(const KernelSide &) = delete;
  KernelSide &operator=(const KernelSide &) = delete;

  /// Loads the programs and attaches those that follow processes.
  Problem load(const KernelSettings &settings);
  trace_bpf &object() { return *object_; }
  int interpreters_map() const;

  /// The number by which BPF knows a process; 0: there is none.
  uint32_t host_pid_of(pid_t pid);
  bool add_target(uint32_t host_pid, const gmt_up_target &target);
  void remove_target(uint32_t host_pid);
  void set_interpreter(uint32_t host_pid, uint32_t place);
  /// False: the process is not followed.
  bool read_target(uint32_t host_pid, gmt_up_target *out);
  void set_recording(bool on);

  /// Reads a process's memory; false: not all of it can be.
  bool read_memory(pid_t pid, uint64_t address, void *to, size_t bytes);

  /// Descriptor that becomes readable when the tracer is to be woken.
  int ring_descriptor() const;
  /// To be set around a wait for it.
  void set_sleeping(bool on);
  /// Hands up to `most` queued records to `on_record`, and returns how many there were; true: there are more.
  bool consume(size_t most, uint64_t *taken = nullptr);
  /// Until none is left. What is queued meanwhile counts too, so nothing may be queued any more.
  void consume_all();
  std::function<void(const void *record, size_t bytes)> on_record;

 private:
  static int deliver(void *self, void *record, size_t bytes);
  Problem attach_life();
  bool read_part(pid_t pid, uint64_t address, void *to, size_t bytes);

  trace_bpf *object_ = nullptr;
  ring_buffer *ring_ = nullptr;
  gmt_up_read *wish_ = nullptr;  ///< shared with the program that reads memory
  uint32_t pid_namespace_ = 0;
  size_t left_ = 0;  ///< records until `consume` pauses
};

}  // namespace gmt::uprobe
