#pragma once
// Whose module a block is: what has a name is of the module that has it, all else of the one that made it.
#include <optional>
#include <string>

#include "model/state/state.h"

namespace gmt::model {

/// `layers.3.weight` is of `layers.3`, and so is `layers.3.weight.exp_avg` of an optimizer. Empty: of none, as what a library keeps from
/// its first call on. Null: of the one that made it.
inline std::optional<std::string> module_by_name(std::string name, uint8_t category) {
  const auto drop_last = [&] { name.resize(name.find('.') == name.npos ? 0 : name.rfind('.')); };
  if (category == GMT_CATEGORY_WORKSPACE) return "";
  if (category < GMT_CATEGORY_PARAMETER || category > GMT_CATEGORY_BUFFER) return std::nullopt;
  if (category == GMT_CATEGORY_OPTIMIZER) drop_last();
  if (name.empty() || name == "?" || name == "parameter without a module") return std::nullopt;  // its owner is unknown
  drop_last();
  return name.empty() ? trace::kRootModule : name;
}

/// Path of its module, as Names::module_path gives it.
inline std::string module_of(const State &state, const TensorBlock &block) {
  const CellInfo &maker = state.accounts.cell_infos()[block.cell];
  const ProcessState &process = *state.process(maker.process);
  const NameBook::Entry *entry = process.name_of(block);
  const auto by_name = entry ? module_by_name(process.names.text(*entry), entry->category) : std::nullopt;
  return by_name ? *by_name : state.names.module_path(maker.process, maker.stack);
}

}  // namespace gmt::model
