#pragma once
// The blocks that a question found, of either kind, and the window of them that is shown, in order.
#include <cstdint>
#include <memory>
#include <span>

#include "model/state/tensor_table.h"
#include "model/state/types.h"

namespace gmt::model {

/// A block, and its place in the order of the answer. Blocks at the same place are in the order of their addresses.
class Found {
 public:
  Found() = default;
  Found(uint64_t place, const TensorBlock &block) : order(place), at_(reinterpret_cast<uintptr_t>(&block)) {}
  Found(uint64_t place, const Block &block) : order(place), at_(reinterpret_cast<uintptr_t>(&block) | kDriver) {}

  /// nullptr: it is one of the driver.
  const TensorBlock *tensor() const { return at_ & kDriver ? nullptr : reinterpret_cast<const TensorBlock *>(at_); }
  /// Only where it is none of a framework.
  const Block &block() const { return *reinterpret_cast<const Block *>(at_ & ~kDriver); }
  uint64_t address() const { return tensor() ? tensor()->address : block().address; }

  bool operator<(const Found &other) const {
    return order != other.order ? order < other.order : address() < other.address();
  }

  uint64_t order;

 private:
  static constexpr uintptr_t kDriver = 1;
  static_assert(alignof(Block) > kDriver && alignof(TensorBlock) > kDriver);
  uintptr_t at_;
};

class FoundBlocks {
 public:
  /// Room for `most` blocks.
  explicit FoundBlocks(size_t most) : all_(std::make_unique_for_overwrite<Found[]>(most + 1)) {}

  /// Takes it where it is `wanted`; whether it is cannot be guessed, so there is no branch.
  void add(const Found &one, bool wanted) {
    all_[size_] = one;
    size_ += wanted;
  }
  size_t size() const { return size_; }
  std::span<Found> all() { return {all_.get(), size_}; }

  /// The window [from, to), at most size(), in order. What lies outside of it is lost: to be called once, at the end.
  std::span<const Found> window(size_t from, size_t to);

 private:
  /// A part of all, within which a window lies.
  struct Part {
    std::span<Found> blocks;
    size_t from;
    size_t to;
  };
  static bool narrow(Part &part);

  std::unique_ptr<Found[]> all_;
  size_t size_ = 0;
};

}  // namespace gmt::model
