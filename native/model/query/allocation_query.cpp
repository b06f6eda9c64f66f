#include <algorithm>

#include "model/model.h"
#include "model/query/found_blocks.h"

namespace gmt::model {
namespace {

bool matches(const AllocationQuery &query, const Cell &cell, const CellInfo &maker) {
  if (query.layer && *query.layer != maker.layer) return false;
  if (query.process != kAll && static_cast<uint32_t>(query.process) != maker.process) return false;
  if (query.device && *query.device != device_number(maker.device)) return false;
  if (query.thread && *query.thread != maker.thread) return false;
  return !query.site || *query.site == cell.site;
}

}  // namespace

/// One question while the blocks are looked through.
struct Model::BlockChoice {
  const AllocationQuery &query;
  Filter filter;
  bool by_cell_alone;                           ///< and by its birth
  std::vector<char> cells;                      ///< by cell: it may be one of these
  std::vector<WordMask> words;                  ///< by cell: that lie in its line, thread or device
  std::vector<std::vector<WordMask>> in_names;  ///< by process and text
};

template <typename AnyBlock>
AllocationRow Model::row_of(const AnyBlock &block, uint64_t stream, uint8_t kind) {
  const CellInfo &maker = accounts_.cell_infos()[block.cell];
  return {.address = block.address,
          .bytes = block.bytes,
          .device = device_number(static_cast<uint8_t>(block.device)),
          .process = maker.process,
          .thread = maker.thread,
          .layer = maker.layer,
          .site = accounts_.cells()[block.cell].site,
          .time_ns = block.time_ns,
          .stream = stream,
          .kind = kind,
          .step = block.step,
          .age_steps = process(maker.process)->frame->step - block.step,
          .category = kUnnamed};
}

void Model::name_row(const TensorBlock &block, AllocationRow &row) {
  const NameBook &names = process(row.process)->names;
  const NameBook::Entry *entry = names.find(block.address, static_cast<uint8_t>(block.device));
  row.category = category_of(*process(row.process), block);
  if (entry) row.name = names.text(*entry);
}

void Model::detail_row(const TensorBlock &block, AllocationRow &row) {
  const gmt_block *known = process(row.process)->details.find(block.address, static_cast<uint8_t>(block.device));
  if (!known) return;
  row.asked_bytes = known->asked_bytes;
  row.stream = known->stream;
  row.pool_owner = known->pool_owner;
  row.pool_number = known->pool_number;
}

Model::BlockChoice Model::choice_of(const AllocationQuery &query) const {
  BlockChoice choice{query, Filter(query.filter), !query.category && query.filter.empty(), {}, {}, {}};
  const std::deque<CellInfo> &infos = accounts_.cell_infos();
  choice.cells.resize(infos.size());
  for (uint32_t cell = 0; cell < infos.size(); ++cell) {
    choice.cells[cell] = matches(query, accounts_.cells()[cell], infos[cell]);
  }
  if (!choice.filter.has_words()) return choice;
  choice.words.resize(infos.size());
  for (uint32_t cell = 0; cell < infos.size(); ++cell) {
    if (choice.cells[cell]) choice.words[cell] = words_of_cell(choice.filter, cell);
  }
  WordMask in_blocks = 0;
  for (uint8_t category = 0; category < kCategories; ++category) in_blocks |= choice.filter.words_in_category(category);
  for (const auto &state : states_) {
    choice.in_names.push_back(state ? name_words(state->names, choice.filter) : std::vector<WordMask>{});
    for (const WordMask words : choice.in_names.back()) in_blocks |= words;
  }
  for (uint32_t cell = 0; cell < infos.size(); ++cell) {
    choice.cells[cell] &= choice.filter.all_words(choice.words[cell] | in_blocks);
  }
  return choice;
}

/// Those of the words that lie in what a row of the cell shows of its maker.
WordMask Model::words_of_cell(const Filter &filter, uint32_t cell) const {
  const CellInfo &info = accounts_.cell_infos()[cell];
  const std::string thread = lower_case(names_.thread(info.process, info.thread));
  const SiteInfo &site = accounts_.sites()[accounts_.cells()[cell].site];
  return filter.words_in({site.summary.search, site.library.search, thread, device_text(device_number(info.device))});
}

template <typename AnyBlock>
bool Model::chosen(const BlockChoice &choice, const AnyBlock &block) const {
  const bool by_cell = static_cast<bool>(choice.cells[block.cell]) & choice.query.births.hold(block.time_ns);
  if (choice.by_cell_alone || !by_cell) return by_cell;
  const Filter &filter = choice.filter;
  if (!filter.bytes_match(static_cast<double>(block.bytes))) return false;
  const uint32_t process = accounts_.cell_infos()[block.cell].process;
  const ProcessState &state = *states_[process];
  if (filter.has_ages() && !filter.age_matches(state.frame->step - block.step)) return false;
  if (!choice.query.category && !filter.has_words()) return true;
  const NameBook::Entry *entry = nullptr;
  if constexpr (std::is_same_v<AnyBlock, TensorBlock>) {
    if (block.named) entry = state.names.find(block.address, static_cast<uint8_t>(block.device));
  }
  uint8_t category = kUnnamed;
  if constexpr (std::is_same_v<AnyBlock, TensorBlock>) category = category_of(state, block);
  if (choice.query.category && *choice.query.category != category) return false;
  if (!filter.has_words()) return true;
  const WordMask in_name = entry ? choice.in_names[process][entry->text] : 0;
  return filter.all_words(choice.words[block.cell] | in_name | filter.words_in_category(category));
}

/// Rising numbers are the order of the answer. The oldest has the highest age. Names come later.
template <typename AnyBlock>
uint64_t Model::order_of(const AllocationQuery &query, const AnyBlock &block) const {
  const auto value = [&]() -> uint64_t {
    switch (query.sort) {
      case AllocationSort::Bytes:
        return block.bytes;
      case AllocationSort::Age:
        return ~block.time_ns;
      case AllocationSort::Address:
        return block.address;
      case AllocationSort::Step:
        return block.step;
      case AllocationSort::Site:
        return accounts_.cells()[block.cell].site;
      case AllocationSort::Name:
        return 0;
    }
    return 0;
  };
  return query.descending ? ~value() : value();
}

namespace {

/// Orders by name; what has none is last either way. `name_of` gives nullptr for such.
template <typename NameOf>
void rank_names(std::span<Found> found, bool descending, NameOf name_of) {
  std::vector<std::pair<const std::string *, uint32_t>> named;
  for (uint32_t i = 0; i < found.size(); ++i) {
    const std::string *name = name_of(found[i]);
    found[i].order = ~0ull;
    if (name) named.emplace_back(name, i);
  }
  std::sort(named.begin(), named.end(), [](const auto &a, const auto &b) { return *a.first < *b.first; });
  uint64_t rank = 0;
  for (size_t i = 0; i < named.size(); ++i) {
    if (i > 0 && *named[i].first != *named[i - 1].first) ++rank;
    found[named[i].second].order = descending ? named.size() - rank : rank;
  }
}

}  // namespace

const std::string *Model::name_of(const TensorBlock &block) const {
  const NameBook &names = states_[accounts_.cell_infos()[block.cell].process]->names;
  const NameBook::Entry *entry = block.named ? names.find(block.address, static_cast<uint8_t>(block.device)) : nullptr;
  return entry && entry->text ? &names.text(*entry) : nullptr;
}

AllocationRows Model::allocations(const AllocationQuery &asked) {
  accounts_.resolve_pending();
  AllocationQuery query = asked;
  while (query.site && *query.site < accounts_.sites().size() && accounts_.sites()[*query.site].merged_into != kNone) {
    query.site = accounts_.sites()[*query.site].merged_into;
  }
  AllocationRows answer;
  answer.revision = revision_;
  FoundBlocks found(live_blocks());
  find_blocks(choice_of(query), found, answer.sum_bytes);
  if (query.sort == AllocationSort::Name) {
    rank_names(found.all(), query.descending,
               [&](const Found &one) { return one.tensor() ? name_of(*one.tensor()) : nullptr; });
  }
  answer.total = found.size();
  for (const Found &one : found.window(query.from, std::min(query.to, found.size()))) {
    const TensorBlock *tensor = one.tensor();
    answer.rows.push_back(tensor ? row_of(*tensor, GMT_UNKNOWN, GMT_TENSOR_ALLOC)
                                 : row_of(one.block(), one.block().stream, one.block().kind));
    if (tensor && (tensor->named || tensor->activation)) name_row(*tensor, answer.rows.back());
    if (tensor && tensor->detailed) detail_row(*tensor, answer.rows.back());
  }
  return answer;
}

/// All live blocks, of the driver and of frameworks.
size_t Model::live_blocks() const {
  size_t count = blocks_.size();
  for (const auto &state : states_) count += state ? state->tensors.size() : 0;
  return count;
}

void Model::find_blocks(const BlockChoice &choice, FoundBlocks &found, int64_t &sum_bytes) const {
  const auto add = [&](const auto &block, bool counted) {
    const bool wanted = chosen(choice, block);
    found.add({order_of(choice.query, block), block}, wanted);
    sum_bytes += wanted & counted ? static_cast<int64_t>(block.bytes) : 0;
  };
  blocks_.each([&](uint32_t, const Block &block) { add(block, block.counted); });
  for (const auto &state : states_) {
    if (state) state->tensors.each([&](const TensorBlock &block) { add(block, true); });
  }
}

}  // namespace gmt::model
