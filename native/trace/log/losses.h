#pragma once
// What is missing from a trace, counted by cause.
#include <cstdint>
#include <string_view>

#include "trace/archive.h"
#include "wire/layout.h"

namespace gmt::trace {

/// Causes that only a reader can see; they follow those of enum gmt_loss.
enum ReaderLoss : uint32_t {
  kLostTorn = GMT_LOST_CAUSES,  ///< counted by the process, never written (it was killed, or held up, in between)
  kLostCorrupt,                 ///< the bytes were damaged
  kLostCutShort,                ///< the saved file ends too early
  kLossCauses,
};

/// Name of a cause as users see it ("disk full", "torn", ...).
std::string_view loss_name(uint32_t cause);

struct Losses {
  uint64_t count[kLossCauses] = {};
  uint64_t total() const;
  /// Events that are missing; the others lack a stack or a name.
  uint64_t events() const;
  Losses &operator+=(const Losses &other);
};

/// Splits gaps in the sequence by what is known of damage before them. Each damaged place counts at least one.
class GapCauses {
 public:
  explicit GapCauses(Losses &losses) : losses_(losses) {}
  void checkpoint(Archive &a) { a(corrupt_, cut_); }
  /// A place was found damaged (or cut off) where up to `events` events were (0: no events, something else).
  void damaged(ReaderLoss cause, uint64_t events);
  /// `events` sequences in a row will never come.
  void gap(uint64_t events);

 private:
  struct Credit {
    uint64_t events = 0;   ///< how many missing events this damage can explain
    uint64_t prepaid = 0;  ///< counted already
    void checkpoint(Archive &a) { a(events, prepaid); }
  };
  uint64_t use(ReaderLoss cause, uint64_t events);
  Losses &losses_;
  Credit corrupt_, cut_;
};

}  // namespace gmt::trace
