#pragma once
// Questions as JavaScript puts them, read into the model's. On a value that cannot be read they leave a TypeError
// pending in the environment and return nothing.
#include <napi.h>

#include <optional>

#include "model/queries.h"

namespace gmt::addon {

std::optional<model::SiteQuery> site_query(const Napi::CallbackInfo &info);
std::optional<model::AllocationQuery> allocation_query(const Napi::CallbackInfo &info);
std::optional<model::TimelineQuery> timeline_query(const Napi::CallbackInfo &info);

}  // namespace gmt::addon
