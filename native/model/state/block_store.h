#pragma once
// All live blocks of a session's driver layer, in pages, so that growing never moves them.
#include <memory>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

class BlockStore {
 public:
  /// An index for a new block; the caller fills all of it.
  uint32_t take() {
    if (free_.empty()) add_page();
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void give_back(uint32_t index) {
    (*this)[index].kind = 0;
    free_.push_back(index);
  }
  Block &operator[](uint32_t index) { return pages_[index >> kPageBits][index & (kPage - 1)]; }
  const Block &operator[](uint32_t index) const { return pages_[index >> kPageBits][index & (kPage - 1)]; }

  void checkpoint(Archive &a);

  size_t capacity() const { return pages_.size() * kPage; }
  size_t size() const { return capacity() - free_.size(); }

  /// Calls `visit(index, block)` for every live block.
  template <typename Visit>
  void each(Visit visit) const {
    for (size_t page = 0; page < pages_.size(); ++page) {
      for (uint32_t at = 0; at < kPage; ++at) {
        const Block &block = pages_[page][at];
        if (block.kind) visit(static_cast<uint32_t>(page << kPageBits | at), block);
      }
    }
  }

 private:
  static constexpr uint32_t kPageBits = 12;
  static constexpr uint32_t kPage = 1u << kPageBits;

  void add_page() {
    const auto base = static_cast<uint32_t>(pages_.size() << kPageBits);
    pages_.push_back(std::make_unique<Block[]>(kPage));
    for (uint32_t at = kPage; at-- > 0;) free_.push_back(base + at);
  }

  std::vector<std::unique_ptr<Block[]>> pages_;
  std::vector<uint32_t> free_;
};

}  // namespace gmt::model
