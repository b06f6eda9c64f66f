#include "model/query/questions.h"

namespace gmt::model {

std::optional<SiteDetail> site(const State &state, uint32_t id) {
  id = state.accounts.current_site(id);
  if (id >= state.accounts.sites().size()) return std::nullopt;
  const SiteInfo &info = state.accounts.sites()[id];
  const auto pass = static_cast<Pass>(state.accounts.cells()[info.cells.front()].pass);
  SiteDetail detail{id, info.key(), info.layer, info.shown_source(), pass, {}, info.library.path};
  if (info.stack) state.names.stack(info.process, info.stack, detail.stack);
  return detail;
}

}  // namespace gmt::model
