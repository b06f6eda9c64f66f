#include "trace/log/losses.h"

#include <algorithm>

#include "wire/loss_names.h"

namespace gmt::trace {

std::string_view loss_name(uint32_t cause) {
  static constexpr std::string_view kReaderNames[] = {"torn", "corrupt", "cut short"};  // by ReaderLoss
  if (const char *name = gmt_loss_name(cause)) return name;
  return cause >= kLostTorn && cause < kLossCauses ? kReaderNames[cause - kLostTorn] : "unknown cause";
}

uint64_t Losses::total() const {
  uint64_t sum = 0;
  for (uint64_t c : count) sum += c;
  return sum;
}

uint64_t Losses::events() const {
  uint64_t sum = 0;
  for (uint32_t cause = 0; cause < kLossCauses; ++cause)
    if (gmt_loses_events(cause)) sum += count[cause];
  return sum;
}

Losses &Losses::operator+=(const Losses &other) {
  for (uint32_t i = 0; i < kLossCauses; ++i) count[i] += other.count[i];
  return *this;
}

void GapCauses::damaged(ReaderLoss cause, uint64_t events) {
  Credit &credit = cause == kLostCutShort ? cut_ : corrupt_;
  credit.events += events;
  credit.prepaid += events > 0;
  losses_.count[cause] += 1;
}

uint64_t GapCauses::use(ReaderLoss cause, uint64_t events) {
  Credit &credit = cause == kLostCutShort ? cut_ : corrupt_;
  uint64_t used = std::min(events, credit.events);
  uint64_t paid = std::min(used, credit.prepaid);
  credit.events -= used;
  credit.prepaid -= paid;
  losses_.count[cause] += used - paid;
  return used;
}

void GapCauses::gap(uint64_t events) {
  events -= use(kLostCorrupt, events);
  events -= use(kLostCutShort, events);
  losses_.count[kLostTorn] += events;
}

}  // namespace gmt::trace
