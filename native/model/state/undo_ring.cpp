#include "model/state/undo_ring.h"

#include <utility>

namespace gmt::model {

void UndoRing::push(UndoRecord record) {
  if (records_.empty()) records_.resize(kSize);
  records_[next_] = std::move(record);
  next_ = (next_ + 1) % kSize;
  ++pushed_;
}

bool UndoRing::take(uint64_t address, uint8_t kind, UndoRecord &out) {
  for (size_t back = 1; back <= records_.size(); ++back) {
    UndoRecord &record = records_[(next_ + kSize - back) % kSize];
    if (record.kind != kind || record.address != address) continue;
    out = std::move(record);
    record = UndoRecord{};
    return true;
  }
  return false;
}

}  // namespace gmt::model
