#include <map>

#include "model/query/questions.h"

namespace gmt::model {

std::vector<CategoryRow> categories(const State &state, uint32_t number) {
  const ProcessState *process = state.process(number);
  if (!process) return {};
  std::map<std::pair<uint8_t, uint8_t>, CategorySum> sums = process->names.sums();
  const std::vector<CategorySum> &activations = process->activations.by_device();
  for (size_t device = 0; device < activations.size(); ++device)
    sums[{static_cast<uint8_t>(device), GMT_CATEGORY_ACTIVATION}].add(activations[device]);
  std::map<uint8_t, CategorySum> unnamed;
  for (const Ledger &ledger : state.accounts.ledgers()) {
    if (ledger.process != number || ledger.layer != Layer::Tensor) continue;
    unnamed[ledger.device] = {ledger.live_bytes, ledger.live_count};
  }
  std::vector<CategoryRow> rows;
  for (const auto &[key, sum] : sums) {
    if (sum.count == 0 || key.second == kUnnamed) continue;
    rows.push_back({key.first, key.second, sum});
    unnamed[key.first].remove(sum);
  }
  for (const auto &[device, sum] : unnamed) {
    if (sum.count > 0) rows.push_back({device, kUnnamed, sum});
  }
  return rows;
}

}  // namespace gmt::model
