#pragma once
// Plain data as a pickle holds it: flat tables, in which what is shared stays shared.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gmt::trace {

/// A value in 8 bytes: its kind, and a small integer or a place in a table of its tree.
class Value {
 public:
  enum Kind : uint8_t { kMissing, kNone, kBool, kInt, kWideInt, kBigInt, kFloat, kText, kBytes, kList, kTuple, kDict };

  constexpr Value() = default;
  constexpr Value(Kind kind, uint64_t payload) : bits_(uint64_t{kind} << 60 | (payload & kPayload)) {}

  Kind kind() const { return static_cast<Kind>(bits_ >> 60); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_container() const { return kind() >= kList; }
  uint64_t payload() const { return bits_ & kPayload; }
  int64_t small() const { return static_cast<int64_t>(bits_ << 4) >> 4; }

  static constexpr bool is_small(int64_t number) { return number >= -(1ll << 59) && number < (1ll << 59); }

 private:
  static constexpr uint64_t kPayload = (1ull << 60) - 1;
  uint64_t bits_ = 0;
};

/// What a pickle holds. Values refer to their tree; texts lie in the pickle's own bytes.
class PickleTree {
 public:
  Value root() const { return root_; }
  size_t file_bytes() const { return file_bytes_; }

  /// UTF-8 (or the bytes of a Python 2 string); empty where the value is no text.
  std::string_view text(Value value) const {
    if (!value.is(Value::kText)) return {};
    const TextRange &range = texts_[value.payload()];
    return {reinterpret_cast<const char *>(file_.get()) + range.offset, range.bytes};
  }
  /// Items of a list or tuple, keys and values in turn of a dict; empty where the value is neither.
  std::span<const Value> items(Value value) const {
    if (!value.is_container()) return {};
    const Container &container = containers_[value.payload()];
    return {pool_.data() + container.begin, container.count};
  }
  /// Nothing where the value is no integer of 64 bits.
  std::optional<int64_t> integer(Value value) const {
    if (value.is(Value::kInt) || value.is(Value::kBool)) return value.small();
    if (value.is(Value::kWideInt)) return static_cast<int64_t>(wide_[value.payload()]);
    return std::nullopt;
  }

  size_t text_count() const { return texts_.size(); }
  size_t container_count() const { return containers_.size(); }

 private:
  friend class PickleReader;
  struct TextRange {
    uint64_t offset;
    uint32_t bytes;
  };
  struct Container {
    uint64_t begin;
    uint32_t count, capacity;
  };

  std::unique_ptr<std::byte[]> file_;
  size_t file_bytes_ = 0;
  std::vector<Value> pool_;  ///< items of the containers
  std::vector<Container> containers_;
  std::vector<TextRange> texts_;
  std::vector<uint64_t> wide_;  ///< integers beyond 60 bits, and doubles
  Value root_;
};

}  // namespace gmt::trace
