#include "model/state/name_book.h"

namespace gmt::model {

void NameBook::name(uint64_t address, uint8_t device, uint64_t bytes, uint8_t category, const std::string &text) {
  forget(address, device);
  if (category > kUnnamed) category = GMT_CATEGORY_OTHER;
  entries_[block_key(address, device)] = {number_of(text), category, device, bytes};
  CategorySum &sum = sums_[{device, category}];
  sum.bytes += static_cast<int64_t>(bytes);
  ++sum.count;
}

void NameBook::forget(uint64_t address, uint8_t device) {
  const auto found = entries_.find(block_key(address, device));
  if (found == entries_.end()) return;
  CategorySum &sum = sums_[{device, found->second.category}];
  sum.bytes -= static_cast<int64_t>(found->second.bytes);
  --sum.count;
  entries_.erase(found);
}

const NameBook::Entry *NameBook::find(uint64_t address, uint8_t device) const {
  const auto found = entries_.find(block_key(address, device));
  return found == entries_.end() ? nullptr : &found->second;
}

uint32_t NameBook::number_of(const std::string &text) {
  if (text.empty()) return 0;
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  if (texts_.size() == kTexts) return 0;
  texts_.push_back(text);
  return numbers_.emplace(text, static_cast<uint32_t>(texts_.size() - 1)).first->second;
}

}  // namespace gmt::model
