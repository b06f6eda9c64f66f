#pragma once
// One traced process, and what its events mean: devices of contexts, bytes of blocks, what its log knows already.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "cuda/driver_calls.h"
#include "uprobe/before/check.h"
#include "uprobe/bpf/ring.h"
#include "uprobe/python/records.h"
#include "uprobe/session/log_writer.h"
#include "uprobe/session/process_info.h"

namespace gmt::uprobe {

/// A thread of a process, as BPF numbers it.
struct TracedThread {
  uint16_t index = 0;          ///< in the log
  int16_t tensor_device = -1;  ///< of its last tensor
  bool good = false;           ///< the log has room for it
  gmt_autograd autograd{};     ///< as the log has it
};

class Process {
 public:
  Process(uint32_t host_pid, ProcessInfo info);
  ~Process();

  uint32_t host_pid() const { return host_pid_; }
  const ProcessInfo &info() const { return info_; }
  LogWriter &log() { return log_; }
  PythonRecords &python() { return python_; }
  /// Becomes readable when the process has ended; -1: it has ended already.
  int descriptor() const { return descriptor_; }

  /// No log could be made for it, and none is to be tried again.
  void refuse() { refused_ = true; }
  bool refused() const { return refused_; }
  /// Its place in the map of interpreters.
  uint32_t interpreter = 0;

  /// It was made by `parent`: the same program, with the same contexts.
  void inherit(const Process &parent);
  /// What every log begins with. False: errno says why there is none.
  bool open_log(int directory, uint64_t budget_bytes, bool recording, uint64_t ns);
  TracedThread add_thread(const gmt_up_thread &about);

  void handle_call(TracedThread &thread, const gmt_up_call &record, size_t bytes, uint32_t stack);
  void handle_tensor(TracedThread &thread, const gmt_up_tensor &record, uint32_t stack);
  void handle_context(const gmt_up_context &record);
  void handle_node(const TracedThread &thread, const gmt_up_node &record, uint32_t stack);
  /// It ran before the tracer came: what was there then is compared with what its allocator tells.
  void begin_before() { before_.emplace(); }
  /// A block of before that is known.
  void add_before(uint64_t address, uint64_t bytes, uint8_t device);
  /// A mark of the process itself.
  void mark(gmt_kind kind, uint64_t ns);

  /// What its interpreter is; `reason`: why there are no stacks, empty where there are.
  void set_python(uint32_t version, const std::string &reason);
  /// Losses that BPF counted for the process since its begin.
  void handle_losses(const uint64_t (&lost)[GMT_UP_LOSSES]);
  /// The losses so far were those of the program that it ran before.
  void forget_losses(const uint64_t (&lost)[GMT_UP_LOSSES]);
  /// No event comes any more.
  void end(bool in_order);

  /// Its PyTorch does not tell what ties backward allocations to forward lines.
  void set_autograd_unreadable();
  /// The driver is the project's simulator.
  void set_simulated();
  /// How many GPUs it can use, where that is known: with one there is no doubt on which memory lies.
  void set_gpus(uint32_t count) { gpus_ = count; }

 private:
  struct Block {
    uint64_t bytes;
    uint8_t device;
  };
  void describe();
  void check_before(uint8_t device, const gmt_up_tensor &record);
  void note_autograd_unreadable();
  void write_autograd(TracedThread &thread, const gmt_up_running &node);
  uint8_t device_of(const TracedThread &thread, uint64_t context);
  uint8_t device_for(const TracedThread &thread, const cuda::CallFacts &facts, uint64_t context);
  void handle_context_end(TracedThread &thread, const gmt_up_call &record, const cuda::CallFacts &facts);
  void handle_usdt_free(TracedThread &thread, const gmt_up_tensor &record, uint32_t stack);

  uint32_t host_pid_;
  ProcessInfo info_;
  int descriptor_;
  LogWriter log_;
  PythonRecords python_;
  bool ended_ = false;
  bool refused_ = false;
  bool simulated_ = false;
  bool autograd_unreadable_ = false;
  bool told_unknown_device_ = false;
  uint32_t gpus_ = 0;
  uint32_t python_version_ = 0;
  std::string python_reason_;
  uint64_t lost_[GMT_UP_LOSSES] = {};
  uint64_t reserved_[64] = {};  ///< by device: what the log knows
  std::unordered_map<uint64_t, uint8_t> device_of_context_;
  std::optional<BeforeCheck> before_;
  std::unordered_map<uint64_t, Block> blocks_;               ///< of USDT probes, whose frees tell the address alone
  std::unordered_map<int32_t, int32_t> primary_references_;  ///< of each device's primary context, seen taken
};

}  // namespace gmt::uprobe
