#pragma once
// Whose module a block is: what has a name is of the module that has it, all else of the one that made it.
#include <optional>
#include <string>

#include "model/state/state.h"

namespace gmt::model {

/// `layers.3.weight` is of `layers.3`, and so is `layers.3.weight.exp_avg` of an optimizer. Empty: of none, as what a library keeps from
/// its first call on. Null: of the one that made it.
std::optional<std::string> module_by_name(std::string name, uint8_t category);

/// Path of its module, as Names::module_path gives it.
std::string module_of(const State &state, const TensorBlock &block);

}  // namespace gmt::model
