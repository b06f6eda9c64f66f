#pragma once
// What live blocks of a framework are for: their names, and bytes by category.
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/state/tensor_table.h"
#include "model/state/types.h"

namespace gmt::model {

/// Those of enum gmt_category, and one for unnamed blocks.
constexpr auto kUnnamed = static_cast<uint8_t>(Category::Unnamed);
constexpr size_t kCategories = Words<Category>::kAll.size();
static_assert(kUnnamed == GMT_CATEGORY_UNNAMED && kCategories == kUnnamed + 1);
constexpr const char *category_name(uint8_t category) { return word_of(static_cast<Category>(category)); }

struct CategorySum {
  int64_t bytes = 0;
  int64_t count = 0;
  void add(uint64_t block) { add({static_cast<int64_t>(block), 1}); }
  void add(const CategorySum &more) {
    bytes += more.bytes;
    count += more.count;
  }
  void remove(const CategorySum &part) { add({-part.bytes, -part.count}); }
};

/// Live bytes of one category on one device.
struct CategoryRow {
  uint8_t device;
  uint8_t category;
  CategorySum sum;
};

class CategorySums {
 public:
  void checkpoint(Archive &a) { a(sums_); }
  void add(uint8_t device, uint64_t bytes) {
    if (device >= sums_.size()) sums_.resize(device + 1u);
    sums_[device].add(bytes);
  }
  /// What was added before.
  void remove(uint8_t device, uint64_t bytes) { sums_[device].remove({static_cast<int64_t>(bytes), 1}); }
  const std::vector<CategorySum> &by_device() const { return sums_; }

 private:
  std::vector<CategorySum> sums_;
};

class NameBook {
 public:
  /// Texts that are kept apart; what comes later has a category alone. As many first names are kept.
  static constexpr size_t kTexts = 1u << 20;

  struct Entry {
    uint32_t text = 0;  ///< 0 = none
    uint8_t category = kUnnamed;
    uint8_t device = 0;
    uint64_t bytes = 0;
    void checkpoint(Archive &a) { a(text, category, device, bytes); }
  };
  /// The first name of a block, which was allocated at `time_ns`: an earlier state has the block without it.
  struct FirstName {
    uint64_t address;
    uint64_t time_ns;
    uint32_t text;  ///< as in Entry
    uint8_t category;
    uint8_t device;
    void checkpoint(Archive &a) { a(address, time_ns, text, category, device); }
  };
  void checkpoint(Archive &a);

  /// The block, which is alive, is this from now on.
  void name(const TensorBlock &block, uint8_t category, const std::string &text) {
    const auto device = static_cast<uint8_t>(block.device);
    forget(block.address, device);
    if (category > kUnnamed) category = GMT_CATEGORY_OTHER;
    const uint32_t number = number_of(text);
    entries_[block_key(block.address, device)] = {number, category, device, block.bytes};
    sums_[{device, category}].add(block.bytes);
    if (!block.named && first_.size() < kTexts)
      first_.push_back({block.address, block.time_ns, number, category, device});
  }
  const std::vector<FirstName> &first_names() const { return first_; }
  /// The block was freed.
  void forget(uint64_t address, uint8_t device) {
    const auto found = entries_.find(block_key(address, device));
    if (found == entries_.end()) return;
    sums_[{device, found->second.category}].remove({static_cast<int64_t>(found->second.bytes), 1});
    entries_.erase(found);
  }
  /// nullptr: it has no name.
  const Entry *find(uint64_t address, uint8_t device) const {
    const auto found = entries_.find(block_key(address, device));
    return found == entries_.end() ? nullptr : &found->second;
  }
  const std::string &text(const Entry &entry) const { return texts_[entry.text]; }
  /// By Entry::text.
  const std::vector<std::string> &texts() const { return texts_; }
  /// Calls `visit(address, entry)` for all that is named.
  template <typename Visit>
  void each(Visit visit) const {
    // The device is mixed in a second time, which takes it out again.
    for (const auto &[key, entry] : entries_) visit(block_key(key, entry.device), entry);
  }
  /// By device and category.
  const std::map<std::pair<uint8_t, uint8_t>, CategorySum> &sums() const { return sums_; }

 private:
  uint32_t number_of(const std::string &text) {
    if (text.empty()) return 0;
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    if (texts_.size() == kTexts) return 0;
    texts_.push_back(text);
    return numbers_.emplace(text, static_cast<uint32_t>(texts_.size() - 1)).first->second;
  }

  std::unordered_map<uint64_t, Entry> entries_;
  std::vector<FirstName> first_;
  std::vector<std::string> texts_{""};
  std::unordered_map<std::string, uint32_t> numbers_;
  std::map<std::pair<uint8_t, uint8_t>, CategorySum> sums_;
};

}  // namespace gmt::model
