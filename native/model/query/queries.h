#pragma once
// Questions and answers of the model; extension/protocol/trace.ts says what each field means.
#include <cstdint>
#include <memory>
#include <string>

#include "model/query/questions.gen.h"
#include "model/query/rows.gen.h"
#include "model/query/step_queries.h"
#include "model/state/names.h"
#include "model/state/types.h"

namespace gmt::model {

struct SiteDetail {
  uint32_t id;
  uint64_t key;
  Layer layer;
  LineSource source;
  Pass pass;
  Stack stack;
  std::string library;
};

struct OutOfMemory {
  uint32_t process;
  int32_t device;
  Layer layer;
  uint64_t requested_bytes;
  uint64_t time_ns;
  uint32_t site;
  int64_t live_bytes;
  uint32_t thread;
  uint64_t free_bytes;                             ///< of the device; GMT_UNKNOWN: the allocator did not report it
  std::shared_ptr<const MemorySnapshot> snapshot;  ///< of the newest ones
  void checkpoint(Archive &a) {
    a(process, device, layer, requested_bytes, time_ns, live_bytes, thread, free_bytes, snapshot);
    row(a, kSiteRows, site);
  }
};

}  // namespace gmt::model
