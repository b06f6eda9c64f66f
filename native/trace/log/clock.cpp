#include "trace/log/clock.h"

#include <algorithm>
#include <cmath>

#include "wire/clock.h"

namespace gmt::trace {

namespace {
constexpr double kSlowest = 100, kFastest = 0.05;  // ns a tick: 10 MHz to 20 GHz
constexpr double kUsual = 0.4;                     // of a processor, until a pair tells
constexpr double kTolerance = 1e9;
constexpr uint64_t kFarEnough = 1'000'000;  // ns: what reading two clocks takes apart is much of a shorter time
}  // namespace

Clock::Clock(const gmt_file_header &header, uint64_t offset_ns)
    : start_ticks_(header.start_ticks),
      start_ns_(header.start_monotonic_ns),
      offset_ns_(offset_ns),
      ns_per_tick_(header.clock == GMT_CLOCK_TSC ? kUsual : 1),
      tsc_(header.clock == GMT_CLOCK_TSC) {
  if (header.latest_ticks != 0) add_pair(header.latest_ticks, header.latest_monotonic_ns);
}

void Clock::checkpoint(Archive &a) {
  a(start_ticks_, start_ns_, offset_ns_, span_ns_, ns_per_tick_, tsc_);
  a.hold(ns_per_tick_ >= kFastest && ns_per_tick_ <= kSlowest);
}

void Clock::add_pair(uint64_t ticks, uint64_t monotonic_ns) {
  // Twice the distance each time: the rate settles instead of moving with every chunk.
  if (!tsc_ || ticks <= start_ticks_ || monotonic_ns <= start_ns_ ||
      monotonic_ns - start_ns_ < std::max(2 * span_ns_, kFarEnough))
    return;
  double rate = static_cast<double>(monotonic_ns - start_ns_) / static_cast<double>(ticks - start_ticks_);
  if (rate < kFastest || rate > kSlowest) return;
  span_ns_ = monotonic_ns - start_ns_;
  ns_per_tick_ = rate;
}

void Clock::add_now() {
  if (!tsc_) return;
  const ClockPair now = read_clocks(GMT_CLOCK_TSC);
  add_pair(now.ticks, now.monotonic_ns);
}

uint64_t Clock::session_ns(uint64_t ticks) const {
  if (ticks < start_ticks_) return offset_ns_;
  return offset_ns_ + static_cast<uint64_t>(static_cast<double>(ticks - start_ticks_) * ns_per_tick_);
}

bool Clock::session_ns(uint64_t ticks, uint64_t monotonic_ns, uint64_t *ns) const {
  if (monotonic_ns < start_ns_ || ticks < start_ticks_) return false;
  double by_ticks = static_cast<double>(ticks - start_ticks_) * ns_per_tick_;
  double by_clock = static_cast<double>(monotonic_ns - start_ns_);
  // A suspended machine stops CLOCK_MONOTONIC but perhaps not the TSC, so this is held against damage only where the
  // clocks are one.
  double tolerance = tsc_ ? kTolerance + by_ticks : kTolerance;
  if (std::fabs(by_ticks - by_clock) > tolerance) return false;
  *ns = offset_ns_ + (monotonic_ns - start_ns_);
  return true;
}

}  // namespace gmt::trace
