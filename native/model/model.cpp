#include "model/model.h"

namespace gmt::model {

Model::Model(const Names &names) : accounts_(names), names_(names) {}

ProcessState &Model::state_of(uint32_t process) {
  if (process >= states_.size()) states_.resize(process + 1);
  if (!states_[process]) {
    states_[process] = std::make_unique<ProcessState>();
    states_[process]->frame = &accounts_.frame(process);
    states_[process]->frame->finder = states_[process]->steps.finder.get();
  }
  return *states_[process];
}

const ProcessState *Model::process(uint32_t process) const {
  return process < states_.size() ? states_[process].get() : nullptr;
}

bool Model::recording(uint32_t number) const {
  const ProcessState *state = process(number);
  return !state || state->recording;
}

std::optional<SiteDetail> Model::site(uint32_t id) {
  accounts_.resolve_pending();
  if (id >= accounts_.sites().size()) return std::nullopt;
  while (accounts_.sites()[id].merged_into != kNone) id = accounts_.sites()[id].merged_into;
  const SiteInfo &info = accounts_.sites()[id];
  SiteDetail detail{id, info.key(), info.layer, info.shown_source(), {}, info.library.path};
  if (info.stack) names_.stack(info.process, info.stack, detail.stack);
  return detail;
}

}  // namespace gmt::model
