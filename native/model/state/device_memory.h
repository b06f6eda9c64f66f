#pragma once
// One device as one process holds it: the framework's reserve, and the device's own account.
#include <cstdint>
#include <optional>

#include "model/steps/step_list.h"
#include "model/steps/timeline_series.h"
#include "trace/batch.h"

namespace gmt::model {

/// The device's own account as it was read last before the end of a step.
struct MemoryPoint {
  uint32_t step;
  uint64_t process_bytes;  ///< ~0 = not reported
  uint64_t used_bytes;
  uint64_t total_bytes;
  int64_t traced_bytes;  ///< of the process's driver calls, at the moment of the reading
  void join(const MemoryPoint &later) { *this = later; }
  void checkpoint(Archive &a) { a(step, process_bytes, used_bytes, total_bytes, traced_bytes); }
};

/// Memory that a tensor freed and another stream still uses, as the allocator reported in this step.
struct PendingPoint {
  uint32_t step;
  uint64_t bytes;
  void join(const PendingPoint &later) { *this = later; }
  void checkpoint(Archive &a) { a(step, bytes); }
};

class DeviceMemory {
 public:
  void checkpoint(Archive &a) {
    a(reserved_, reserved_bytes_, has_reserved_, reserved_steps_, memory_, traced_bytes_, memory_steps_, pending_,
      pending_steps_);
  }
  bool has_reserved() const { return has_reserved_; }
  int64_t reserved_bytes() const { return reserved_bytes_; }
  const TimelineSeries &reserved() const { return reserved_; }
  const std::optional<trace::Memory> &memory() const { return memory_; }
  /// What the process's driver calls held at the moment of `memory`.
  int64_t traced_bytes() const { return traced_bytes_; }
  const std::vector<LevelPoint> &reserved_points() const { return reserved_steps_.points(); }
  const std::vector<MemoryPoint> &memory_points() const { return memory_steps_.points(); }
  const std::vector<PendingPoint> &pending_points() const { return pending_steps_.points(); }

  void set_reserved(uint64_t time_ns, int64_t bytes) {
    reserved_.set(time_ns, bytes);
    replay_reserved(bytes, time_ns);
  }
  /// Only to the series of steps.
  void replay_reserved(int64_t bytes, uint64_t time_ns) {
    reserved_bytes_ = bytes;
    has_reserved_ = true;
    reserved_steps_.record(bytes, time_ns);
  }
  void set_memory(const trace::Memory &memory, int64_t traced_bytes) {
    memory_ = memory;
    traced_bytes_ = traced_bytes;
  }
  void set_allocator(const trace::Allocator &record) {
    pending_ = record.active_bytes > record.allocated_bytes ? record.active_bytes - record.allocated_bytes : 0;
  }

  /// `again`: a step of before, whose account is not known any more.
  void end_step(uint32_t step, bool again) {
    if (has_reserved_) reserved_steps_.end_step(step, reserved_bytes_);
    if (pending_ && !again) pending_steps_.push({step, *pending_});
    if (!again) pending_.reset();
    if (!memory_ || again) return;
    memory_steps_.push({step, memory_->process_bytes, memory_->used_bytes, memory_->total_bytes, traced_bytes_});
  }
  /// Everything so far is of one step, which runs.
  void restart_in_first_step() {
    int64_t most = reserved_bytes_;
    for (const LevelPoint &point : reserved_steps_.points()) most = std::max(most, point.most);
    reserved_steps_.restart(most);
    memory_steps_.clear();
    pending_steps_.clear();
  }
  /// The series begin anew with what is reserved now, or with what was before.
  void restart() {
    reserved_steps_.restart(reserved_bytes_);
    memory_steps_.clear();
    pending_steps_.clear();
  }
  void restart_with(bool known, int64_t bytes) {
    reserved_bytes_ = bytes;
    has_reserved_ = known;
    restart();
  }

 private:
  TimelineSeries reserved_;
  int64_t reserved_bytes_ = 0;
  bool has_reserved_ = false;
  StepLevel reserved_steps_;
  std::optional<trace::Memory> memory_;
  int64_t traced_bytes_ = 0;
  StepList<MemoryPoint> memory_steps_;
  std::optional<uint64_t> pending_;  ///< reported in the running step
  StepList<PendingPoint> pending_steps_;
};

}  // namespace gmt::model
