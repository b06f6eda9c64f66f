#include "model/live_tally.h"

#include "model/model.h"

namespace gmt::model {

LiveTally Model::tally(const SiteQuery &query, const Filter &filter) {
  LiveTally out;
  const bool by_category = query.group_by == GroupBy::Category;
  out.counted = by_category || !query.births.all() || filter.has_ages();
  out.slots = by_category ? kCategories : 1;
  if (filter.has_words() && query.layer == Layer::Tensor) find_words(filter, out);
  if (!out.counted) return out;
  out.cells.resize(accounts_.cells().size() * out.slots);
  out.site_bytes.resize(accounts_.sites().size() * out.slots);
  const auto add = [&](uint32_t cell, uint64_t bytes, size_t slot) {
    CategorySum &sum = out.cells[cell * out.slots + slot];
    sum.bytes += static_cast<int64_t>(bytes);
    ++sum.count;
    out.site_bytes[accounts_.cells()[cell].site * out.slots + slot] += static_cast<int64_t>(bytes);
  };
  const auto counts = [&](const auto &block, uint32_t step) {
    return query.births.hold(block.time_ns) && filter.age_matches(step - block.step);
  };
  if (query.layer != Layer::Tensor) {
    blocks_.each([&](uint32_t, const Block &block) {
      const CellInfo &maker = accounts_.cell_infos()[block.cell];
      if (maker.layer != query.layer || !block.counted || !counts(block, states_[maker.process]->frame->step)) return;
      add(block.cell, block.bytes, by_category ? kUnnamed : 0);
    });
    return out;
  }
  for (const auto &state : states_) {
    if (!state) continue;
    state->tensors.each([&](const TensorBlock &block) {
      if (!counts(block, state->frame->step)) return;
      add(block.cell, block.bytes, by_category ? category_of(*state, block) : 0);
    });
  }
  return out;
}

void Model::find_words(const Filter &filter, LiveTally &out) {
  out.site_words.resize(accounts_.sites().size());
  for (const auto &state : states_) {
    if (!state) continue;
    const std::vector<WordMask> masks = name_words(state->names, filter);
    state->names.each([&](uint64_t address, const NameBook::Entry &entry) {
      const WordMask found = masks[entry.text] | filter.words_in_category(entry.category);
      const TensorBlock *block = found ? state->tensors.find(address, entry.device) : nullptr;
      if (block) out.site_words[accounts_.cells()[block->cell].site] |= found;
    });
    const WordMask activation = filter.words_in_category(GMT_CATEGORY_ACTIVATION);
    if (!activation) continue;
    state->tensors.each([&](const TensorBlock &block) {
      if (category_of(*state, block) != GMT_CATEGORY_ACTIVATION) return;
      out.site_words[accounts_.cells()[block.cell].site] |= activation;
    });
  }
}

/// By the number of a text.
std::vector<WordMask> Model::name_words(const NameBook &names, const Filter &filter) {
  std::vector<WordMask> masks;
  masks.reserve(names.texts().size());
  for (const std::string &text : names.texts()) masks.push_back(filter.words_in({lower_case(text)}));
  return masks;
}

uint8_t Model::category_of(const ProcessState &state, const TensorBlock &block) {
  const NameBook::Entry *entry =
      block.named ? state.names.find(block.address, static_cast<uint8_t>(block.device)) : nullptr;
  if (entry) return entry->category;
  return block.activation ? uint8_t{GMT_CATEGORY_ACTIVATION} : kUnnamed;
}

}  // namespace gmt::model
