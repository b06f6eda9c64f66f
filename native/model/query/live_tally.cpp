#include "model/query/live_tally.h"

#include "model/query/modules.h"
#include "model/query/pools.h"

namespace gmt::model {
namespace {

/// By site: words that lie in the name or category of one of its live blocks.
std::vector<WordMask> words_of_sites(const State &state, const Filter &filter) {
  std::vector<WordMask> words(state.accounts.sites().size());
  const WordMask activation = filter.words_in_category(GMT_CATEGORY_ACTIVATION);
  state.each_process([&](const ProcessState &process) {
    const std::vector<WordMask> masks = name_words(process.names, filter);
    process.names.each([&](uint64_t address, const NameBook::Entry &entry) {
      const WordMask found = masks[entry.text] | filter.words_in_category(entry.category);
      const TensorBlock *block = found ? process.tensors.find(address, entry.device) : nullptr;
      if (block) words[state.accounts.site_of(block->cell)] |= found;
    });
    if (!activation) return;
    process.tensors.each([&](const TensorBlock &block) {
      if (process.category_of(block) == GMT_CATEGORY_ACTIVATION)
        words[state.accounts.site_of(block.cell)] |= activation;
    });
  });
  return words;
}

void add_cells(const State &state, const SiteQuery &query, const Filter &filter, LiveTally &out) {
  const bool by_category = query.group_by == GroupBy::Category;
  out.cells.resize(state.accounts.cells().size() * out.slots);
  // Counted or not is as good as random: adding nothing is cheaper than a branch.
  const auto add = [&](const auto &block, uint32_t step, size_t slot, bool chosen) {
    const bool counts = chosen & query.births.hold(block.time_ns) & filter.age_matches(step - block.step);
    CategorySum &sum = out.cells[block.cell * out.slots + slot];
    sum.bytes += counts ? static_cast<int64_t>(block.bytes) : 0;
    sum.count += counts;
  };
  if (query.layer != Layer::Tensor) {
    state.blocks.each([&](uint32_t, const Block &block) {
      const CellInfo &maker = state.accounts.cell_infos()[block.cell];
      const bool chosen = maker.layer == query.layer && block.counted;
      add(block, state.process(maker.process)->frame->step, by_category ? kUnnamed : 0, chosen);
    });
    return;
  }
  state.each_process([&](const ProcessState &process) {
    process.tensors.each([&, step = process.frame->step](const TensorBlock &block) {
      const uint8_t category = by_category || query.category ? process.category_of(block) : kUnnamed;
      add(block, step, by_category ? category : 0, query.category.value_or(category) == category);
    });
  });
}

/// Blocks with names, by cell and module, or by cell and pool.
void add_named(const State &state, const SiteQuery &query, const Filter &filter, LiveTally &out) {
  state.each_process([&](const ProcessState &process) {
    const auto add = [&](const TensorBlock &block, const std::string &name) {
      if ((query.category && *query.category != process.category_of(block)) || !query.births.hold(block.time_ns) ||
          !filter.age_matches(process.frame->step - block.step))
        return;
      out.named[block.cell][name].add(block.bytes);
    };
    if (query.group_by == GroupBy::Pool) {
      const bool chosen = query.process == kAll || static_cast<uint32_t>(query.process) == process.number;
      for (const Pool &pool : process.pools.pools()) {
        if (query.include_dead && chosen && process.pools.listed()) out.empty_pools.push_back(pool.label());
      }
      const auto pools = pools_of_blocks(state, process);
      process.tensors.each([&](const TensorBlock &block) {
        const auto pool = pools.find(block.address);
        if (process.memory.paused(block.address))
          add(block, kPaused);
        else if (pool != pools.end())
          add(block, process.pools.pools()[pool->second].label());
      });
      return;
    }
    process.names.each([&](uint64_t address, const NameBook::Entry &entry) {
      const auto path = module_by_name(process.names.text(entry), entry.category);
      const TensorBlock *block = path ? process.tensors.find(address, entry.device) : nullptr;
      if (block) add(*block, *path);
    });
  });
}

}  // namespace

LiveTally tally_live(const State &state, const SiteQuery &query, const Filter &filter) {
  LiveTally out;
  const bool by_category = query.group_by == GroupBy::Category;
  out.counted = by_category || query.category || !query.births.all() || filter.has_ages();
  out.slots = by_category ? kCategories : 1;
  if (filter.has_words() && query.layer == Layer::Tensor) out.site_words = words_of_sites(state, filter);
  const bool by_name = query.group_by == GroupBy::ModulePath || query.group_by == GroupBy::Pool;
  if (by_name && query.layer == Layer::Tensor) add_named(state, query, filter, out);
  if (!out.counted) return out;
  add_cells(state, query, filter, out);
  out.site_bytes.resize(state.accounts.sites().size() * out.slots);
  for (size_t at = 0; at < out.cells.size(); ++at) {
    const uint32_t site = state.accounts.site_of(static_cast<uint32_t>(at / out.slots));
    out.site_bytes[site * out.slots + at % out.slots] += out.cells[at].bytes;
  }
  return out;
}

std::vector<WordMask> name_words(const NameBook &names, const Filter &filter) {
  std::vector<WordMask> masks;
  masks.reserve(names.texts().size());
  for (const std::string &text : names.texts()) masks.push_back(filter.words_in({lower_case(text)}));
  return masks;
}

}  // namespace gmt::model
