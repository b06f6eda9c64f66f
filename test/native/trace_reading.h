#pragma once
// Reads what a session delivers, for the tests of the reader.
#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "trace/log_merger.h"

namespace gmt::test {

/// What the framework's allocator says of a block.
struct BlockDetail {
  uint64_t after;
  gmt_block block;
};

/// A batch that outlives its delivery.
struct StoredBatch {
  uint32_t process;
  std::vector<trace::Event> events;
  std::vector<gmt_driver_detail> details;
  std::vector<gmt_autograd> autograds;
  std::vector<trace::Node> nodes;
  std::vector<trace::Name> names;
  std::vector<trace::Memory> memories;
  std::vector<trace::AnswerPart> answers;
  std::vector<trace::Allocator> allocators;
  std::vector<trace::ModelRecord> others;
  std::vector<trace::Range> ranges;
  std::vector<BlockDetail> blocks;
};

inline StoredBatch keep(const trace::Batch &batch) {
  std::vector<BlockDetail> blocks;
  for (const trace::ModelRecord &record : batch.records.others) {
    if (record.kind == GMT_BLOCK) blocks.push_back({record.after, record.as<gmt_block>()});
  }
  return {batch.process,
          {batch.events.begin(), batch.events.end()},
          {batch.details.begin(), batch.details.end()},
          {batch.autograds.begin(), batch.autograds.end()},
          {batch.nodes.begin(), batch.nodes.end()},
          {batch.records.names.begin(), batch.records.names.end()},
          {batch.records.memories.begin(), batch.records.memories.end()},
          {batch.records.answers.begin(), batch.records.answers.end()},
          {batch.records.allocators.begin(), batch.records.allocators.end()},
          {batch.records.others.begin(), batch.records.others.end()},
          {batch.records.ranges.begin(), batch.records.ranges.end()},
          std::move(blocks)};
}

struct Reading {
  std::unique_ptr<trace::LogMerger> session;
  std::vector<StoredBatch> batches;
  std::string error;

  std::vector<trace::Event> events(uint32_t process = 0) const {
    std::vector<trace::Event> all;
    for (const StoredBatch &batch : batches) {
      if (batch.process == process) all.insert(all.end(), batch.events.begin(), batch.events.end());
    }
    return all;
  }
  void poll() {
    session->poll([&](const trace::Batch &batch) { batches.push_back(keep(batch)); });
  }
};

/// Opens `path` and reads all that is there.
inline Reading read_all(const std::string &path) {
  Reading reading;
  auto session = trace::LogMerger::open(path);
  if (!session) {
    reading.error = session.error();
    return reading;
  }
  reading.session = std::move(session.value());
  reading.poll();
  return reading;
}

template <class T>
bool same_bytes(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
inline bool same(const Reading &a, const Reading &b) {
  if (a.batches.size() != b.batches.size()) return false;
  for (size_t i = 0; i < a.batches.size(); ++i) {
    const StoredBatch &x = a.batches[i], &y = b.batches[i];
    if (x.process != y.process || !same_bytes(x.events, y.events) || !same_bytes(x.details, y.details) ||
        !same_bytes(x.autograds, y.autograds) || x.nodes.size() != y.nodes.size()) {
      return false;
    }
  }
  return true;
}

}  // namespace gmt::test
