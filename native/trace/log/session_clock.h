#pragma once
// Ticks of one process to nanoseconds of the session.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trace/archive.h"
#include "wire/clock.h"
#include "wire/layout.h"

namespace gmt::trace {

/// CLOCK_MONOTONIC passes through. A TSC's rate comes from pairs (ticks, CLOCK_MONOTONIC): the header's start and
/// latest pair, chunk headers, time bases, and while the process runs, the moment of reading; the pair furthest from the
/// start wins. Each chunk names its own moment, so the rate matters only within 2^32 ticks of it.
class Clock {
 public:
  Clock() = default;
  /// `offset_ns`: from the session's time zero to the process's start.
  Clock(const gmt_file_header &header, uint64_t offset_ns)
      : start_ticks_(header.start_ticks),
        start_ns_(header.start_monotonic_ns),
        offset_ns_(offset_ns),
        ns_per_tick_(header.clock == GMT_CLOCK_TSC ? kUsual : 1),
        tsc_(header.clock == GMT_CLOCK_TSC) {
    if (header.latest_ticks != 0) add_pair(header.latest_ticks, header.latest_monotonic_ns);
  }

  void checkpoint(Archive &a) {
    a(start_ticks_, start_ns_, offset_ns_, span_ns_, ns_per_tick_, tsc_);
    a.hold(ns_per_tick_ >= kFastest && ns_per_tick_ <= kSlowest);
  }
  /// Another pair of the two clocks.
  void add_pair(uint64_t ticks, uint64_t monotonic_ns) {
    // Twice the distance each time: the rate settles instead of moving with every chunk.
    if (!tsc_ || ticks <= start_ticks_ || monotonic_ns <= start_ns_ ||
        monotonic_ns - start_ns_ < std::max(2 * span_ns_, kFarEnough))
      return;
    double rate = static_cast<double>(monotonic_ns - start_ns_) / static_cast<double>(ticks - start_ticks_);
    if (rate < kFastest || rate > kSlowest) return;
    span_ns_ = monotonic_ns - start_ns_;
    ns_per_tick_ = rate;
  }
  /// The pair of this moment, for a process that runs on this machine.
  void add_now() {
    if (!tsc_) return;
    const ClockPair now = read_clocks(GMT_CLOCK_TSC);
    add_pair(now.ticks, now.monotonic_ns);
  }
  /// A pair far enough from the start was seen, or none is needed.
  bool calibrated() const { return !tsc_ || span_ns_ > 0; }
  double ns_per_tick() const { return ns_per_tick_; }
  /// Session time of a moment that both clocks name. False: they contradict each other by more than a second, one is damaged.
  bool session_ns(uint64_t ticks, uint64_t monotonic_ns, uint64_t *ns) const {
    if (monotonic_ns < start_ns_ || ticks < start_ticks_) return false;
    double by_ticks = static_cast<double>(ticks - start_ticks_) * ns_per_tick_;
    double by_clock = static_cast<double>(monotonic_ns - start_ns_);
    // A suspended machine stops CLOCK_MONOTONIC but perhaps not the TSC: only where the clocks are one this means damage.
    double tolerance = tsc_ ? kTolerance + by_ticks : kTolerance;
    if (std::fabs(by_ticks - by_clock) > tolerance) return false;
    *ns = offset_ns_ + (monotonic_ns - start_ns_);
    return true;
  }
  /// Session time of a moment that only the ticks name; the start's for one before it.
  uint64_t session_ns(uint64_t ticks) const {
    if (ticks < start_ticks_) return offset_ns_;
    return offset_ns_ + static_cast<uint64_t>(static_cast<double>(ticks - start_ticks_) * ns_per_tick_);
  }

 private:
  static constexpr double kSlowest = 100, kFastest = 0.05;  ///< ns a tick: 10 MHz to 20 GHz
  static constexpr double kUsual = 0.4;                     // of a processor, until a pair shows it
  static constexpr double kTolerance = 1e9;
  static constexpr uint64_t kFarEnough = 1'000'000;  // ns: of a shorter time, what reading two clocks takes is much

  uint64_t start_ticks_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t offset_ns_ = 0;
  uint64_t span_ns_ = 0;  ///< how far from the start the best pair is
  double ns_per_tick_ = 1;
  bool tsc_ = false;
};

}  // namespace gmt::trace
