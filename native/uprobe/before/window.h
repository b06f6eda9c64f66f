#pragma once
// The records that came while the allocator was read. They are held back, because what was there before belongs in front of them,
// and they decide what was: the reading is of no single moment, but each block that changed meanwhile says so here.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "uprobe/before/torch.h"

namespace gmt::uprobe {

class BeforeWindow {
 public:
  void hold(const void *record, size_t bytes);
  size_t bytes() const { return held_.size(); }
  /// Time of the newest record.
  uint64_t newest_ns() const { return newest_ns_; }

  /// Makes of what was read what there was when recording began: a block that is allocated first was not there, one that is
  /// freed first was.
  void settle(uint32_t host_pid, BeforeMemory *memory) const;

  /// Hands out what is held, in its order.
  template <class Handle>
  void release(Handle handle) {
    each([&](const std::byte *record, size_t bytes) { handle(record, bytes); });
    held_.clear();
  }

 private:
  template <class Each>
  void each(Each visit) const {
    for (size_t at = 0; at < held_.size();) {
      const auto bytes = value_at<uint64_t>(held_.data(), at);
      visit(held_.data() + at + sizeof(uint64_t), bytes);
      at += sizeof(uint64_t) + (bytes + 7) / 8 * 8;
    }
  }

  std::vector<std::byte> held_;  ///< each record behind its length, at multiples of 8
  uint64_t newest_ns_ = 0;
};

}  // namespace gmt::uprobe
