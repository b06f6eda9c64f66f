#pragma once
// What a framework's allocator said of single live blocks: how many bytes were asked for, which stream and pool they belong to.
#include <cstdint>
#include <unordered_map>

#include "model/state/types.h"

namespace gmt::model {

class DetailBook {
 public:
  void checkpoint(Archive &a) { a(blocks_); }
  /// The block that is alive at its address is this until it is freed.
  void set(const gmt_block &block) { blocks_[block_key(block.address, static_cast<uint8_t>(block.device))] = block; }
  void forget(uint64_t address, uint8_t device) { blocks_.erase(block_key(address, device)); }
  /// nullptr: nothing was said of it.
  const gmt_block *find(uint64_t address, uint8_t device) const {
    const auto found = blocks_.find(block_key(address, device));
    return found == blocks_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<uint64_t, gmt_block> blocks_;
};

}  // namespace gmt::model
