#pragma once
// What is missing from a trace, counted by cause.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "trace/archive.h"
#include "wire/layout.h"
#include "wire/loss_names.h"

namespace gmt::trace {

/// Causes that only a reader can see; they follow those of enum gmt_loss.
enum ReaderLoss : uint32_t {
  kLostTorn = GMT_LOST_CAUSES,  ///< counted by the process, never written (it was killed, or held up, in between)
  kLostCorrupt,                 ///< the bytes were damaged
  kLostCutShort,                ///< the saved file ends too early
  kLossCauses,
};

/// Name of a cause as users see it ("disk full", "torn", ...).
inline std::string_view loss_name(uint32_t cause) {
  static constexpr std::string_view kReaderNames[] = {"torn", "corrupt", "cut short"};  // by ReaderLoss
  if (const char *name = gmt_loss_name(cause)) return name;
  return cause >= kLostTorn && cause < kLossCauses ? kReaderNames[cause - kLostTorn] : "unknown cause";
}

struct Losses {
  uint64_t count[kLossCauses] = {};
  uint64_t total() const {
    uint64_t sum = 0;
    for (uint64_t c : count) sum += c;
    return sum;
  }
  /// Events that are missing; the others lack a stack or a name.
  uint64_t events() const {
    uint64_t sum = 0;
    for (uint32_t cause = 0; cause < kLossCauses; ++cause)
      if (gmt_loses_events(cause)) sum += count[cause];
    return sum;
  }
  Losses &operator+=(const Losses &other) {
    for (uint32_t i = 0; i < kLossCauses; ++i) count[i] += other.count[i];
    return *this;
  }
};

/// Splits gaps in the sequence by what is known of damage before them. Each damaged place counts at least one.
class GapCauses {
 public:
  explicit GapCauses(Losses &losses) : losses_(losses) {}
  void checkpoint(Archive &a) { a(corrupt_, cut_); }
  /// A place was found damaged (or cut off) where up to `events` events were (0: no events, something else).
  void damaged(ReaderLoss cause, uint64_t events) {
    Credit &credit = cause == kLostCutShort ? cut_ : corrupt_;
    credit.events += events;
    credit.prepaid += events > 0;
    losses_.count[cause] += 1;
  }
  /// `events` sequences in a row will never come.
  void gap(uint64_t events) {
    events -= use(kLostCorrupt, events);
    events -= use(kLostCutShort, events);
    losses_.count[kLostTorn] += events;
  }

 private:
  struct Credit {
    uint64_t events = 0;   ///< how many missing events this damage can explain
    uint64_t prepaid = 0;  ///< counted already
    void checkpoint(Archive &a) { a(events, prepaid); }
  };
  uint64_t use(ReaderLoss cause, uint64_t events) {
    Credit &credit = cause == kLostCutShort ? cut_ : corrupt_;
    uint64_t used = std::min(events, credit.events);
    uint64_t paid = std::min(used, credit.prepaid);
    credit.events -= used;
    credit.prepaid -= paid;
    losses_.count[cause] += used - paid;
    return used;
  }
  Losses &losses_;
  Credit corrupt_, cut_;
};

}  // namespace gmt::trace
