#pragma once
// A trace directory, the same each time, and a checkpoint in the middle of it.
#include <vector>

#include "check.h"
#include "random_session.h"
#include "session/checkpoint.h"

namespace gmt::test {

class CheckpointSession {
 public:
  CheckpointSession() {
    std::mt19937 random(1);
    std::vector<Program> programs;
    for (uint32_t i = 0; i < 2; ++i) programs.push_back(start(folder_.path(), i));
    for (int i = 0; i < 600; ++i) act(programs[random() % 4 == 0], random);
  }
  const std::string &path() const { return folder_.path(); }
  std::vector<uint8_t> bytes() const {
    auto reader = std::move(trace::SessionReader::open(path()).value());
    const session::TraceNames names(*reader);
    AskedModel model(names);
    reader->poll([&](const trace::Batch &batch) { model.ingest(batch); }, 200);
    const std::vector<std::byte> kept = session::checkpoint(*reader, model);
    const auto *first = reinterpret_cast<const uint8_t *>(kept.data());
    return {first, first + kept.size()};
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace gmt::test
