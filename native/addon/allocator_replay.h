#pragma once
// The model of PyTorch's allocator: `replayAllocator` and `findPools` of extension/native/native.d.ts.
#include <napi.h>

namespace gmt::addon {

Napi::Value replay_allocator(const Napi::CallbackInfo &info);
Napi::Value find_pools(const Napi::CallbackInfo &info);

}  // namespace gmt::addon
