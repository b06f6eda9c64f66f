#pragma once
// Ticks of one process to nanoseconds of the session.
#include <cstdint>

#include "trace/archive.h"
#include "wire/layout.h"

namespace gmt::trace {

/// CLOCK_MONOTONIC passes through. A TSC's rate comes from pairs (ticks, CLOCK_MONOTONIC): the header's start and
/// latest pair, chunk headers, time bases, and while the process runs, the moment of reading; the pair furthest from the
/// start wins. Each chunk names its own moment, so the rate matters only within 2^32 ticks of it.
class Clock {
 public:
  Clock() = default;
  /// `offset_ns`: from the session's time zero to the process's start.
  Clock(const gmt_file_header &header, uint64_t offset_ns);

  void checkpoint(Archive &a);
  /// Another pair of the two clocks.
  void add_pair(uint64_t ticks, uint64_t monotonic_ns);
  /// The pair of this moment, for a process that runs on this machine.
  void add_now();
  /// A pair far enough from the start was seen, or none is needed.
  bool calibrated() const { return !tsc_ || span_ns_ > 0; }
  double ns_per_tick() const { return ns_per_tick_; }
  /// Session time of a moment that both clocks name. False where the two contradict each other by more than a second:
  /// one of them is damaged.
  bool session_ns(uint64_t ticks, uint64_t monotonic_ns, uint64_t *ns) const;
  /// Session time of a moment that only the ticks name; the start's for one before it.
  uint64_t session_ns(uint64_t ticks) const;

 private:
  uint64_t start_ticks_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t offset_ns_ = 0;
  uint64_t span_ns_ = 0;  ///< how far from the start the best pair is
  double ns_per_tick_ = 1;
  bool tsc_ = false;
};

}  // namespace gmt::trace
