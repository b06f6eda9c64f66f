#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "model/query/live_tally.h"
#include "model/query/modules.h"
#include "model/query/pools.h"
#include "model/query/questions.h"
#include "model/state/tensor_table.h"
#include "model/state/types.h"

namespace gmt::model {
namespace {

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

/// So many are sorted as they are.
constexpr size_t kFew = 4096;
constexpr int kBucketBits = 11;

/// Least order, and how far the highest is above it.
std::pair<uint64_t, uint64_t> range_of(std::span<const Found> blocks) {
  uint64_t least = ~0ull, most = 0;
  for (const Found &one : blocks) {
    least = std::min(least, one.order);
    most = std::max(most, one.order);
  }
  return {least, most - least};
}

class FoundBlocks {
 public:
  explicit FoundBlocks(size_t most) : all_(std::make_unique_for_overwrite<Found[]>(most + 1)) {}

  /// Takes it where it is `wanted`; whether it is cannot be guessed, so there is no branch.
  void add(const Found &one, bool selected) {
    all_[size_] = one;
    size_ += selected;
  }
  size_t size() const { return size_; }

  /// The window [from, to), at most size(), in order. What lies outside of it is lost: to be called once, at the end.
  std::span<const Found> window(size_t from, size_t to) {
    if (from >= to) return {};
    Part part{{all_.get(), size_}, from, to};
    while (part.blocks.size() > std::max(kFew, 2 * (to - from)) && narrow(part)) {
    }
    const auto at = [&](size_t i) { return part.blocks.begin() + static_cast<std::ptrdiff_t>(i); };
    if (part.from > 0) std::nth_element(part.blocks.begin(), at(part.from), part.blocks.end());
    std::partial_sort(at(part.from), at(part.to), part.blocks.end());
    return part.blocks.subspan(part.from, part.to - part.from);
  }

 private:
  /// A part of all, within which a window lies.
  struct Part {
    std::span<Found> blocks;
    size_t from;
    size_t to;
  };
  /// Leaves of the part the blocks whose order is near that of the window. False: those are all.
  static bool narrow(Part &part) {
    auto [base, range] = range_of(part.blocks);
    if (range == 0) {
      for (Found &one : part.blocks) one.order = one.address();
      std::tie(base, range) = range_of(part.blocks);
    }
    const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - kBucketBits);
    const auto bucket = [base, shift](const Found &one) { return (one.order - base) >> shift; };
    std::array<uint32_t, 1u << kBucketBits> counts{};
    for (const Found &one : part.blocks) ++counts[bucket(one)];
    size_t first = 0, before = 0;
    while (before + counts[first] <= part.from) before += counts[first++];
    size_t last = first, until = before + counts[first];
    while (until < part.to) until += counts[++last];
    size_t kept = 0;
    for (const Found one : part.blocks) {
      part.blocks[kept] = one;
      kept += (bucket(one) >= first) & (bucket(one) <= last);
    }
    const bool fewer = kept < part.blocks.size();
    part = {part.blocks.first(kept), part.from - before, part.to - before};
    return fewer;
  }

  std::unique_ptr<Found[]> all_;
  size_t size_ = 0;
};

bool matches(const AllocationQuery &query, const Cell &cell, const CellInfo &maker) {
  if (query.layer && *query.layer != maker.layer) return false;
  if (query.process != kAll && static_cast<uint32_t>(query.process) != maker.process) return false;
  if (query.device && *query.device != device_number(maker.device)) return false;
  if (query.thread && *query.thread != maker.thread) return false;
  return !query.site || *query.site == cell.site;
}

/// Which blocks a query chooses: what holds for a whole cell is found once, before the blocks are looked through.
class BlockChoice {
 public:
  BlockChoice(const State &state, const AllocationQuery &query)
      : state_(state),
        query_(query),
        filter_(query.filter),
        by_cell_alone_(query.filter.empty() && query.address.empty()),
        address_(query.address.empty() ? 0 : std::strtoull(query.address.c_str(), nullptr, 0)),
        cells_(state.accounts.cells().size()) {
    for (uint32_t cell = 0; cell < cells_.size(); ++cell) {
      cells_[cell] = matches(query, state.accounts.cells()[cell], state.accounts.cell_infos()[cell]);
    }
    if (filter_.has_words()) find_words();
  }

  template <typename AnyBlock>
  bool holds(const AnyBlock &block) const {
    const bool by_cell = static_cast<bool>(cells_[block.cell]) & query_.births.hold(block.time_ns);
    if (by_cell_alone_ || !by_cell) return by_cell;
    if (address_ && block.address != address_) return false;
    if (!filter_.bytes_match(static_cast<double>(block.bytes))) return false;
    const ProcessState &process = *state_.process(state_.accounts.cell_infos()[block.cell].process);
    if (filter_.has_ages() && !filter_.age_matches(process.frame->step - block.step)) return false;
    if (!filter_.has_words()) return true;
    const NameBook::Entry *entry = nullptr;
    uint8_t category = kUnnamed;
    if constexpr (std::is_same_v<AnyBlock, TensorBlock>) {
      entry = process.name_of(block);
      category = process.category_of(block);
    }
    const WordMask in_name = entry ? in_names_[process.number][entry->text] : 0;
    return filter_.all_words(words_[block.cell] | in_name | filter_.words_in_category(category));
  }

 private:
  void find_words() {
    words_.resize(cells_.size());
    for (uint32_t cell = 0; cell < cells_.size(); ++cell) {
      if (cells_[cell]) words_[cell] = words_of_cell(cell);
    }
    WordMask in_blocks = 0;
    for (uint8_t category = 0; category < kCategories; ++category) in_blocks |= filter_.words_in_category(category);
    state_.each_process([&](const ProcessState &process) {
      in_names_.resize(process.number + 1);
      in_names_.back() = name_words(process.names, filter_);
      for (const WordMask words : in_names_.back()) in_blocks |= words;
    });
    for (uint32_t cell = 0; cell < cells_.size(); ++cell) cells_[cell] &= filter_.all_words(words_[cell] | in_blocks);
  }

  /// Those of the words that lie in what a row of the cell shows of its maker.
  WordMask words_of_cell(uint32_t cell) const {
    const CellInfo &info = state_.accounts.cell_infos()[cell];
    const std::string thread = lower_case(state_.names.thread(info.process, info.thread));
    const SiteInfo &site = state_.accounts.sites()[state_.accounts.site_of(cell)];
    return filter_.words_in(
        {site.summary.search, site.library.search, thread, device_text(device_number(info.device), info.layer)});
  }

  const State &state_;
  const AllocationQuery &query_;
  const Filter filter_;
  const bool by_cell_alone_;                     ///< and by its birth
  const uint64_t address_;                       ///< 0: any
  std::vector<char> cells_;                      ///< by cell: it may be one of these
  std::vector<WordMask> words_;                  ///< by cell: that lie in its line, thread or device
  std::vector<std::vector<WordMask>> in_names_;  ///< by process and text
};

/// Rising numbers are the order of the answer. The oldest has the highest age.
template <typename AnyBlock>
uint64_t order_of(const AllocationQuery &query, const AnyBlock &block) {
  const auto value = [&]() -> uint64_t {
    switch (query.sort) {
      case AllocationSort::Bytes:
        return block.bytes;
      case AllocationSort::Age:
        return ~block.time_ns;
      case AllocationSort::Address:
        return block.address;
    }
    return 0;
  };
  return query.descending ? ~value() : value();
}

template <typename AnyBlock>
AllocationRow row_of(const State &state, const AnyBlock &block, uint64_t stream, uint8_t kind) {
  const CellInfo &maker = state.accounts.cell_infos()[block.cell];
  return {.address = block.address,
          .bytes = block.bytes,
          .device = device_number(static_cast<uint8_t>(block.device)),
          .process = maker.process,
          .thread = maker.thread,
          .layer = maker.layer,
          .site = state.accounts.site_of(block.cell),
          .time_ns = block.time_ns,
          .stream = stream,
          .kind = kind,
          .step = block.step,
          .age_steps = state.process(maker.process)->frame->step - block.step,
          .category = kUnnamed};
}

AllocationRow tensor_row(const State &state, const TensorBlock &block) {
  AllocationRow row = row_of(state, block, GMT_UNKNOWN, GMT_TENSOR_ALLOC);
  const ProcessState &process = *state.process(row.process);
  row.category = process.category_of(block);
  if (const NameBook::Entry *entry = process.name_of(block)) row.name = process.names.text(*entry);
  row.module = module_of(state, block);
  const auto device = static_cast<uint8_t>(block.device);
  const gmt_block *known = block.detailed ? process.details.find(block.address, device) : nullptr;
  if (!known) return row;
  row.asked_bytes = known->asked_bytes;
  row.stream = known->stream;
  row.pool_owner = known->pool_owner;
  row.pool_number = known->pool_number;
  return row;
}

/// All live blocks, of the driver and of frameworks.
size_t live_blocks(const State &state) {
  size_t count = state.blocks.size();
  state.each_process([&](const ProcessState &process) { count += process.tensors.size(); });
  return count;
}

FoundBlocks find_blocks(const State &state, const AllocationQuery &query, int64_t &sum_bytes) {
  const BlockChoice choice(state, query);
  FoundBlocks found(live_blocks(state));
  const auto add = [&](const auto &block, bool counted) {
    const bool selected = choice.holds(block);
    found.add({order_of(query, block), block}, selected);
    sum_bytes += selected & counted ? static_cast<int64_t>(block.bytes) : 0;
  };
  state.blocks.each([&](uint32_t, const Block &block) { add(block, block.counted); });
  state.each_process(
      [&](const ProcessState &process) { process.tensors.each([&](const TensorBlock &block) { add(block, true); }); });
  return found;
}

}  // namespace

AllocationRows allocations(const State &state, const AllocationQuery &requested) {
  AllocationQuery query = requested;
  if (query.site) query.site = state.accounts.current_site(*query.site);
  AllocationRows answer;
  answer.revision = state.revision;
  FoundBlocks found = find_blocks(state, query, answer.sum_bytes);
  answer.total = found.size();
  std::map<uint32_t, std::unordered_map<uint64_t, uint32_t>> pools;  // by process
  for (const Found &one : found.window(query.from, std::min(query.to, found.size()))) {
    answer.rows.push_back(one.tensor() ? tensor_row(state, *one.tensor())
                                       : row_of(state, one.block(), one.block().stream, one.block().kind));
    AllocationRow &row = answer.rows.back();
    if (!one.tensor() || row.pool_owner != GMT_UNKNOWN) continue;
    const ProcessState &process = *state.process(row.process);
    const auto [known, is_new] = pools.try_emplace(row.process);
    if (is_new) known->second = pools_of_blocks(state, process);
    const auto pool = known->second.find(row.address);
    if (pool == known->second.end()) continue;
    row.pool_owner = process.pools.pools()[pool->second].owner;
    row.pool_number = process.pools.pools()[pool->second].number;
  }
  return answer;
}

}  // namespace gmt::model
