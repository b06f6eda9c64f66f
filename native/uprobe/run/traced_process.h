#pragma once
// One traced process, and what its events mean: devices of contexts, bytes of blocks, what its log has already.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/driver_calls.h"
#include "uprobe/attach/call_layout.h"
#include "uprobe/bpf/ring.h"
#include "uprobe/python/python_records.h"
#include "uprobe/run/earlier.h"
#include "uprobe/run/process_info.h"
#include "uprobe/run/process_log.h"

namespace gmt::uprobe {

/// A thread of a process, as BPF numbers it.
struct TracedThread {
  uint16_t index = 0;          ///< in the log
  int16_t tensor_device = -1;  ///< of its last tensor
  bool good = false;           ///< the log has room for it
  gmt_autograd autograd{};     ///< as the log has it
};

class TracedProcess {
 public:
  TracedProcess(uint32_t host_pid, ProcessInfo info)
      : host_pid_(host_pid),
        info_(std::move(info)),
        descriptor_(open_pidfd(info_.pid)),
        python_([this](gmt_side_record_kind kind, const void *payload,
                       uint32_t bytes) { return log_.local(0, kind, payload, bytes); },
                [this](gmt_loss cause, uint64_t count) { log_.lose(cause, count); }) {}

  uint32_t host_pid() const { return host_pid_; }
  const ProcessInfo &info() const { return info_; }
  ProcessLog &log() { return log_; }
  PythonRecords &python() { return python_; }
  /// Becomes readable when the process has ended; -1: it has ended already.
  int descriptor() const { return descriptor_; }

  /// No log could be made for it, and none is to be tried again.
  void refuse() { refused_ = true; }
  bool refused() const { return refused_; }
  /// Its place in the map of interpreters.
  uint32_t interpreter = 0;

  /// It was made by `parent`: the same program, with the same contexts.
  void inherit(const TracedProcess &parent) {
    simulated_ = parent.simulated_;
    gpus_ = parent.gpus_;
    interpreter = parent.interpreter;
    device_of_context_ = parent.device_of_context_;
  }
  /// What every log begins with. False: errno has the reason.
  bool open_log(int directory, uint64_t budget_bytes, bool recording, uint64_t ns) {
    const LogIdentity identity{info_.pid, info_.parent_pid, info_.uids[0], info_.start, simulated_};
    if (!log_.open(directory, identity, budget_bytes, ns)) return false;
    describe();
    uint16_t index = 0;  // the main thread: marks are its
    log_.add_thread(info_.pid, info_.name.c_str(), &index);
    if (autograd_unreadable_) note_autograd_unreadable();
    mark(recording ? GMT_RECORDING_START : GMT_RECORDING_STOP, ns);
    return true;
  }
  TracedThread add_thread(const gmt_up_thread &about) {
    TracedThread thread;
    if (about.tid == info_.pid) {
      thread.good = log_.is_open();
      return thread;
    }
    char name[sizeof about.name + 1] = {};
    std::memcpy(name, about.name, sizeof about.name);
    thread.good = log_.add_thread(about.tid, name, &thread.index);
    return thread;
  }

  void handle_call(TracedThread &thread, const gmt_up_call &record, size_t bytes, uint32_t stack) {
    cuda::CallFacts facts;
    if ((record.head.flags & GMT_UP_UNREAD) || !read_queued_call(record, bytes, &facts)) {
      log_.lose(GMT_LOST_UNSUPPORTED, 1);
      return;
    }
    if (facts.kind == 0) return;
    if (facts.kind == GMT_CONTEXT_DESTROY || facts.kind == GMT_DEVICE_RESET)
      return handle_context_end(thread, record, facts);
    uint8_t kind = facts.kind;
    if (record.head.type == GMT_UP_RETURN && record.result != 0) {
      if (cuda::ends_memory(facts.kind)) {
        facts.bytes = facts.kind;
        kind = GMT_FREE_UNDONE;
      } else {
        kind |= GMT_FAILED;
      }
    }
    if (facts.kind >= GMT_DEVICE_ALLOC && facts.kind <= GMT_GRAPH_ALLOC) write_autograd(thread, record.node);
    const gmt_driver_detail detail{record.head.row, 0, record.result, facts.stream, facts.object, facts.offset,
                                   record.context,  0};
    const uint8_t device = device_for(thread, facts, record.context);
    if (earlier_) earlier_->place(device, record.head.time);
    log_.event(thread.index, record.head.time, kind, device, facts.address, facts.bytes, stack, &detail);
  }
  void handle_tensor(TracedThread &thread, const gmt_up_tensor &record, uint32_t stack) {
    const auto device = static_cast<uint8_t>(record.head.flags >> 8);
    if (earlier_ && record.allocated != ~0ull)
      earlier_->see_report(device, record.allocated, record.bytes, record.head.time);
    if (record.reserved != ~0ull && device < std::size(reserved_) && reserved_[device] != record.reserved) {
      reserved_[device] = record.reserved;
      log_.event(thread.index, record.head.time, GMT_RESERVED, device, 0, record.reserved, 0);
    }
    thread.tensor_device = device;
    const auto bytes = static_cast<uint64_t>(record.bytes < 0 ? -record.bytes : record.bytes);
    const uint8_t kind = record.head.type == GMT_UP_TENSOR_OOM ? GMT_TENSOR_OOM
                         : record.bytes > 0                    ? GMT_TENSOR_ALLOC
                                                               : GMT_TENSOR_FREE;
    if (kind != GMT_TENSOR_FREE) write_autograd(thread, record.node);
    log_.event(thread.index, record.head.time, kind, device, record.address, bytes, stack);
  }
  void handle_context(const gmt_up_context &record) {
    if (record.device < 0 || record.device >= static_cast<int32_t>(GMT_DEVICE_NONE)) return;
    device_of_context_[record.context] = static_cast<uint8_t>(record.device);
    if (record.head.flags & GMT_UP_RETAINED) primary_references_[record.device]++;
  }
  void handle_node(const TracedThread &thread, const gmt_up_node &record, uint32_t stack) {
    const gmt_node node{record.sequence, stack, record.thread};
    log_.local(thread.index, GMT_NODE, &node, sizeof node);
  }
  /// It ran before the tracer came, and held so much on each of its GPUs by the driver's account. Its log is open.
  void begin_earlier(const std::vector<uint64_t> &driver_bytes, uint64_t ns) {
    earlier_.emplace(log_).begin(driver_bytes, gpus_, ns);
  }
  /// What it held before and had no event yet gets one.
  void settle_earlier(uint64_t ns) {
    if (earlier_) earlier_->settle(ns);
  }
  /// A mark of the process itself.
  void mark(gmt_kind kind, uint64_t ns) {
    settle_earlier(ns);
    log_.event(0, ns, static_cast<uint8_t>(kind), GMT_DEVICE_NONE, 0, 0, 0);
  }

  /// What its interpreter is; `reason`: why there are no stacks, empty where there are.
  void set_python(uint32_t version, const std::string &reason) {
    python_version_ = version;
    python_reason_ = reason;
    if (log_.is_open()) describe();
  }
  /// Losses that BPF counted for the process since its begin.
  void handle_losses(const uint64_t (&lost)[GMT_UP_LOSSES]) {
    for (uint32_t i = 0; i < GMT_UP_LOSSES; i++) {
      if (lost[i] > lost_[i]) log_.lose(kLossOf[i], lost[i] - lost_[i]);
      lost_[i] = lost[i];
    }
  }
  /// The losses so far were those of the program that it ran before.
  void forget_losses(const uint64_t (&lost)[GMT_UP_LOSSES]) { std::copy_n(lost, GMT_UP_LOSSES, lost_); }
  /// No event comes any more.
  void end(bool in_order) {
    if (ended_) return;
    ended_ = true;
    settle_earlier(monotonic_ns());
    log_.close(in_order);
  }

  /// Its PyTorch does not show what ties backward allocations to forward lines.
  void set_autograd_unreadable() {
    if (autograd_unreadable_) return;
    autograd_unreadable_ = true;
    if (log_.is_open()) note_autograd_unreadable();
  }
  /// The driver is the project's simulator.
  void set_simulated() {
    simulated_ = true;
    log_.set_simulated();
  }
  /// How many GPUs it can use, where that is known: with one there is no doubt on which memory lies.
  void set_gpus(uint32_t count) { gpus_ = count; }

 private:
  static constexpr gmt_loss kLossOf[GMT_UP_LOSSES] = {GMT_LOST_RING, GMT_LOST_MAP, GMT_LOST_STACK,
                                                      GMT_LOST_UNSUPPORTED};

  /// Its command line, and the interpreter where that is known by now.
  void describe() {
    const gmt_process_record about{static_cast<uint32_t>(info_.command.size()), python_version_};
    log_.local(0, GMT_PROCESS, &about, sizeof about, info_.command.data(), about.command_bytes);
    if (!python_reason_.empty()) log_.note(GMT_NOTE_PYTHON_UNSUPPORTED, python_reason_);
  }
  void note_autograd_unreadable() {
    log_.note(GMT_NOTE_AUTOGRAD_UNREADABLE,
              "From outside, this version of PyTorch does not show the link from backward to forward lines, so "
              "backward-pass memory has the line of its backward() call.");
  }
  /// What holds for the thread's next allocation, where that changed.
  void write_autograd(TracedThread &thread, const gmt_up_running &node) {
    const gmt_autograd now{node.sequence, node.thread, node.role};
    const gmt_autograd &known = thread.autograd;
    if (now.role == known.role && now.sequence == known.sequence && now.thread == known.thread) return;
    if (log_.local(thread.index, GMT_AUTOGRAD, &now, sizeof now)) thread.autograd = now;
  }
  /// The device of a context; if it was not reported, the only one possible.
  uint8_t device_of(const TracedThread &thread, uint64_t context) {
    const auto known = device_of_context_.find(context);
    if (context && known != device_of_context_.end()) return known->second;
    if (gpus_ == 1) return 0;
    if (thread.tensor_device >= 0) return static_cast<uint8_t>(thread.tensor_device);
    if (device_of_context_.size() == 1 && !context) return device_of_context_.begin()->second;
    if (!noted_unknown_device_) {
      noted_unknown_device_ = true;
      log_.note(GMT_NOTE_ATTACHED,
                "Some driver memory has no GPU, because its thread selected the GPU before the tracer attached.");
    }
    return GMT_DEVICE_NONE;
  }
  /// Host memory belongs to no device; else the arguments decide, else the current context.
  uint8_t device_for(const TracedThread &thread, const cuda::CallFacts &facts, uint64_t context) {
    if (gmt_is_host(facts.kind)) return GMT_DEVICE_NONE;
    return facts.device >= 0 ? static_cast<uint8_t>(facts.device) : device_of(thread, context);
  }
  /// A context that ends takes its memory along. A primary one does when its last reference goes; references that were taken
  /// before the tracer came are not known, so then nothing is reported.
  void handle_context_end(TracedThread &thread, const gmt_up_call &record, const cuda::CallFacts &facts) {
    if (record.result != 0) return;
    if (facts.kind == GMT_CONTEXT_DESTROY) {
      const auto known = device_of_context_.find(facts.address);
      const uint8_t device = known == device_of_context_.end() ? GMT_DEVICE_NONE : known->second;
      log_.event(thread.index, record.head.time, GMT_CONTEXT_DESTROY, device, facts.address, 0, 0);
      device_of_context_.erase(facts.address);
      return;
    }
    int32_t &references = primary_references_[facts.device];
    const bool released = cuda::kCalls[record.head.row].source == GMT_SOURCE_RELEASE_PRIMARY;
    if (released && --references != 0) return;
    references = 0;
    log_.event(thread.index, record.head.time, GMT_DEVICE_RESET, static_cast<uint8_t>(facts.device), 0, 0, 0);
  }

  uint32_t host_pid_;
  ProcessInfo info_;
  Descriptor descriptor_;
  ProcessLog log_;
  PythonRecords python_;
  bool ended_ = false;
  bool refused_ = false;
  bool simulated_ = false;
  bool autograd_unreadable_ = false;
  bool noted_unknown_device_ = false;
  uint32_t gpus_ = 0;
  uint32_t python_version_ = 0;
  std::string python_reason_;
  uint64_t lost_[GMT_UP_LOSSES] = {};
  uint64_t reserved_[64] = {};  ///< by device: what the log has
  std::unordered_map<uint64_t, uint8_t> device_of_context_;
  std::optional<EarlierMemory> earlier_;                     ///< of a process that ran before the tracer came
  std::unordered_map<int32_t, int32_t> primary_references_;  ///< of each device's primary context, seen taken
};

}  // namespace gmt::uprobe
