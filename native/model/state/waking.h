#pragma once
// Between the moment when recording is switched on and the one when the framework's allocator has told what there is.
#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "model/state/types.h"

namespace gmt::model {

/// Of what events told meanwhile they know more than the allocator's list, which may have been made before them or after.
class Waking {
 public:
  /// With more of them the list is not taken any more: nobody may be there who makes one.
  static constexpr size_t kMost = 1u << 18;

  void checkpoint(Archive &a);
  bool active() const { return active_; }
  void begin() { *this = {}, active_ = true; }
  void end() { *this = {}; }
  /// An event told of an allocation or a free there.
  void touch(uint64_t address, bool tensor) {
    if (touched_[tensor].size() < kMost || !listed_[tensor].empty())
      touched_[tensor].insert(address);
    else
      end();
  }
  bool touched(uint64_t address, bool tensor) const { return touched_[tensor].contains(address); }
  /// An address of the list.
  void list(uint64_t address, bool tensor) { listed_[tensor].insert(address); }
  /// Known from before, and no longer there.
  bool is_gone(uint64_t address, bool tensor) const {
    return !listed_[tensor].contains(address) && !touched(address, tensor);
  }

 private:
  bool active_ = false;
  std::unordered_set<uint64_t> touched_[2], listed_[2];  ///< of segments, of tensors
};

}  // namespace gmt::model
