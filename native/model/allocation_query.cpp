#include <algorithm>

#include "model/model.h"

namespace gmt::model {
namespace {

bool matches(const AllocationQuery &query, const Cell &cell, const CellInfo &maker) {
  if (query.layer && *query.layer != maker.layer) return false;
  if (query.process != kAll && static_cast<uint32_t>(query.process) != maker.process) return false;
  if (query.device && *query.device != device_number(maker.device)) return false;
  if (query.thread && *query.thread != maker.thread) return false;
  return !query.site || *query.site == cell.site;
}

/// A block of either kind, and its place in the order of the answer.
struct Found {
  uint64_t order;
  uint64_t address;
  const Block *block;         ///< of the driver, or
  const TensorBlock *tensor;  ///< of a framework

  bool operator<(const Found &other) const {
    return order != other.order ? order < other.order : address < other.address;
  }
};

/// Rising numbers are the order of the answer. The oldest has the highest age.
template <typename AnyBlock>
uint64_t order_of(const AllocationQuery &query, const AnyBlock &block) {
  const uint64_t value = query.sort == AllocationSort::Bytes ? block.bytes
                         : query.sort == AllocationSort::Age ? ~block.time_ns
                                                             : block.address;
  return query.descending ? ~value : value;
}

}  // namespace

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
          .category = kUnnamed,
          .name = {}};
}

void Model::name_row(const TensorBlock &block, AllocationRow &row) {
  const NameBook &names = process(row.process)->names;
  const NameBook::Entry *entry = names.find(block.address, static_cast<uint8_t>(block.device));
  if (!entry) return;
  row.category = entry->category;
  row.name = names.text(*entry);
}

AllocationRows Model::allocations(const AllocationQuery &asked) {
  accounts_.resolve_pending();
  AllocationQuery query = asked;
  while (query.site && *query.site < accounts_.sites().size() && accounts_.sites()[*query.site].merged_into != kNone) {
    query.site = accounts_.sites()[*query.site].merged_into;
  }
  std::vector<char> chosen(accounts_.cells().size());
  for (uint32_t cell = 0; cell < chosen.size(); ++cell) {
    chosen[cell] = matches(query, accounts_.cells()[cell], accounts_.cell_infos()[cell]);
  }
  AllocationRows answer;
  answer.revision = revision_;
  std::vector<Found> found;
  blocks_.each([&](uint32_t, const Block &block) {
    if (!chosen[block.cell]) return;
    found.push_back({order_of(query, block), block.address, &block, nullptr});
    if (block.counted) answer.sum_bytes += static_cast<int64_t>(block.bytes);
  });
  for (const auto &state : states_) {
    if (!state) continue;
    state->tensors.each([&](const TensorBlock &block) {
      if (!chosen[block.cell]) return;
      found.push_back({order_of(query, block), block.address, nullptr, &block});
      answer.sum_bytes += static_cast<int64_t>(block.bytes);
    });
  }
  answer.total = found.size();
  const size_t to = std::min(query.to, found.size());
  const size_t from = std::min(query.from, to);
  const auto at = [&](size_t i) { return found.begin() + static_cast<std::ptrdiff_t>(i); };
  if (from > 0) std::nth_element(found.begin(), at(from), found.end());
  std::partial_sort(at(from), at(to), found.end());
  for (size_t i = from; i < to; ++i) {
    const Found &one = found[i];
    answer.rows.push_back(one.block ? row_of(*one.block, one.block->stream, one.block->kind)
                                    : row_of(*one.tensor, 0, GMT_TENSOR_ALLOC));
    if (one.tensor && one.tensor->named) name_row(*one.tensor, answer.rows.back());
  }
  return answer;
}

}  // namespace gmt::model
