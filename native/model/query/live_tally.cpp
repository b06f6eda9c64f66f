#include "model/query/live_tally.h"

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
  // Counted or not is as good as random: adding nothing is cheaper than a branch.
  const auto add = [&](const auto &block, uint32_t step, size_t slot, bool wanted) {
    const bool counts = wanted & query.births.hold(block.time_ns) & filter.age_matches(step - block.step);
    CategorySum &sum = out.cells[block.cell * out.slots + slot];
    sum.bytes += counts ? static_cast<int64_t>(block.bytes) : 0;
    sum.count += counts;
  };
  if (query.layer != Layer::Tensor) {
    blocks_.each([&](uint32_t, const Block &block) {
      const CellInfo &maker = accounts_.cell_infos()[block.cell];
      const bool wanted = maker.layer == query.layer && block.counted;
      add(block, states_[maker.process]->frame->step, by_category ? kUnnamed : 0, wanted);
    });
  }
  for (const auto &state : states_) {
    if (!state || query.layer != Layer::Tensor) continue;
    state->tensors.each([&, step = state->frame->step](const TensorBlock &block) {
      add(block, step, by_category ? category_of(*state, block) : 0, true);
    });
  }
  out.sum_sites(accounts_);
  return out;
}

void LiveTally::sum_sites(const Accounts &accounts) {
  site_bytes.resize(accounts.sites().size() * slots);
  for (size_t at = 0; at < cells.size(); ++at) {
    site_bytes[accounts.cells()[at / slots].site * slots + at % slots] += cells[at].bytes;
  }
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
