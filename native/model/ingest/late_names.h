#pragma once
// Names that blocks got after a moment: a parameter is one from the start, though it is named once the first step has ended.
#include <string>
#include <vector>

#include "model/state/state.h"

namespace gmt::model {

struct LateName {
  uint32_t process;
  NameBook::FirstName first;
  std::string text;
};

/// The first names of all blocks so far, of those that were allocated up to `until_ns`.
std::vector<LateName> first_names(const State &later, uint64_t until_ns);

/// Gives them to the blocks that are alive in an earlier state of the same trace and have none.
void add_names(State &earlier, const std::vector<LateName> &names);

}  // namespace gmt::model
