#pragma once
// A trace directory, the same each time, and checkpoints of the time in which it was written.
#include <vector>

#include "check.h"
#include "random_session.h"
#include "session/trace_checkpoint.h"

namespace gmt::test {

class CheckpointSession {
 public:
  CheckpointSession() {
    std::mt19937 random(1);
    std::vector<Program> programs;
    for (uint32_t i = 0; i < 2; ++i) programs.push_back(start(folder_.path(), i));
    for (int i = 0; i < 600; ++i) {
      if (i == 5 || i == 60 || i == 300) checkpoints_.push_back(read());
      act(programs[random() % 4 == 0], random);
      if (i == 250) answer(programs[0], 0), answer(programs[0], 1000);
    }
  }
  const std::string &path() const { return folder_.path(); }
  /// Without their version: what is kept of old ones stays of use.
  const std::vector<std::vector<uint8_t>> &checkpoints() const { return checkpoints_; }

 private:
  /// One that names a block, once `later` events have come.
  static void answer(Program &program, uint64_t later) {
    LogWriter &log = *program.log;
    log.add_answer(0, ++program.requests, 0, 1, std::to_string(program.live.back()), log.next_sequence() - 1 + later);
  }
  std::vector<uint8_t> read() const {
    auto reader = std::move(trace::LogMerger::open(path()).value());
    const session::TraceNames names(*reader);
    QueriedModel model(names);
    reader->poll([&](const trace::Batch &batch) { model.ingest(batch); });
    const std::vector<std::byte> kept = session::checkpoint(*reader, model);
    const auto *first = reinterpret_cast<const uint8_t *>(kept.data());
    static_assert(session::kCheckpointVersion < 0x80, "the version is one byte");
    return {first + 1, first + kept.size()};
  }

  TemporaryFolder folder_;
  std::vector<std::vector<uint8_t>> checkpoints_;
};

}  // namespace gmt::test
