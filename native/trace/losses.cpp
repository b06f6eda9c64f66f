#include "trace/losses.h"

#include <algorithm>

namespace gmt::trace {

std::string_view loss_name(uint32_t cause) {
  switch (cause) {
    case GMT_LOST_DISK_FULL:
      return "disk full";
    case GMT_LOST_BUDGET:
      return "budget";
    case GMT_LOST_REENTRANT:
      return "re-entrant";
    case GMT_LOST_THREADS:
      return "too many threads";
    case GMT_LOST_RECORD_SIZE:
      return "record too big";
    case GMT_LOST_STACK_TABLE:
      return "stack table full";
    case GMT_LOST_UNSUPPORTED:
      return "unsupported call";
    case GMT_LOST_DRIVER_GAP:
      return "driver gap";
    case GMT_LOST_RING:
      return "ring full";
    case GMT_LOST_MAP:
      return "kernel table full";
    case kLostTorn:
      return "torn";
    case kLostCorrupt:
      return "corrupt";
    case kLostCutShort:
      return "cut short";
    default:
      return "unknown cause";
  }
}

uint64_t Losses::total() const {
  uint64_t sum = 0;
  for (uint64_t c : count) sum += c;
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
