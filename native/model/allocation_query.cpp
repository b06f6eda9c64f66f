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

/// Rising numbers are the order of the answer. The oldest has the highest age.
uint64_t order_of(const AllocationQuery &query, const Block &block) {
  const uint64_t value = query.sort == AllocationSort::Bytes ? block.bytes
                         : query.sort == AllocationSort::Age ? ~block.time_ns
                                                             : block.address;
  return query.descending ? ~value : value;
}

}  // namespace

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
  std::vector<std::pair<uint64_t, uint32_t>> found;
  blocks_.each([&](uint32_t index, const Block &block) {
    if (!chosen[block.cell]) return;
    found.emplace_back(order_of(query, block), index);
    if (block.counted) answer.sum_bytes += static_cast<int64_t>(block.bytes);
  });
  answer.total = found.size();
  const size_t to = std::min(query.to, found.size());
  const size_t from = std::min(query.from, to);
  const auto at = [&](size_t i) { return found.begin() + static_cast<std::ptrdiff_t>(i); };
  if (from > 0) std::nth_element(found.begin(), at(from), found.end());
  std::partial_sort(at(from), at(to), found.end());
  for (size_t i = from; i < to; ++i) {
    const Block &block = blocks_[found[i].second];
    const CellInfo &maker = accounts_.cell_infos()[block.cell];
    answer.rows.push_back({block.address, block.bytes, device_number(block.device), maker.process, maker.thread,
                           maker.layer, accounts_.cells()[block.cell].site, block.time_ns, block.stream, block.kind});
  }
  return answer;
}

}  // namespace gmt::model
