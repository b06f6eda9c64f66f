#include "model/query/modules.h"

namespace gmt::model {

std::optional<std::string> module_by_name(std::string name, uint8_t category) {
  const auto drop_last = [&] { name.resize(name.find('.') == name.npos ? 0 : name.rfind('.')); };
  if (category == GMT_CATEGORY_WORKSPACE) return "";
  if (category < GMT_CATEGORY_PARAMETER || category > GMT_CATEGORY_BUFFER) return std::nullopt;
  if (category == GMT_CATEGORY_OPTIMIZER) drop_last();
  if (name.empty() || name == "?" || name == "parameter without a module") return std::nullopt;  // nobody knows whose
  drop_last();
  return name.empty() ? trace::kRootModule : name;
}

std::string module_of(const State &state, const TensorBlock &block) {
  const CellInfo &maker = state.accounts.cell_infos()[block.cell];
  const NameBook &names = state.process(maker.process)->names;
  const NameBook::Entry *entry = block.named ? names.find(block.address, static_cast<uint8_t>(block.device)) : nullptr;
  const auto by_name = entry ? module_by_name(names.text(*entry), entry->category) : std::nullopt;
  return by_name ? *by_name : state.names.module_path(maker.process, maker.stack);
}

}  // namespace gmt::model
