#pragma once
// A trace directory with a recorder, and the same one without.
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "random_session.h"
#include "recorder/recorder.h"
#include "session/trace_checkpoint.h"

namespace gmt::test {

/// Tensors that are freed at once.
inline void write_pairs(LogWriter &log, uint64_t pairs) {
  for (uint64_t i = 0; i < 2 * pairs; ++i)
    log.add_event(0, i % 2 ? GMT_TENSOR_FREE : GMT_TENSOR_ALLOC, 512 * (1 + i / 2), 512);
}

constexpr uint64_t kEnd = trace::LogMerger::kToTheEnd;

/// Programs that write the same into two directories.
class Twins {
 public:
  Twins(uint32_t processes, uint32_t seed) : random_(seed) {
    for (uint32_t i = 0; i < processes; ++i) {
      one_.push_back(start(one.path(), i, 0));
      other_.push_back(start(other.path(), i, 0));
    }
  }
  void act(int times) {
    for (int i = 0; i < times; ++i) {
      const uint32_t seed = random_();
      for (std::vector<Program> *programs : {&one_, &other_}) {
        std::mt19937 own(seed);
        Program &next = (*programs)[own() % programs->size()];
        for (const Program &other : *programs) {
          if (one_clock_) next.log->at(std::max(next.log->now_ns(), other.log->now_ns()));
        }
        test::act(next, own);
      }
    }
  }
  /// They tell steps, and what is written later is later, as it is in a job.
  void write_steps() {
    one_clock_ = true;
    for (std::vector<Program> *programs : {&one_, &other_}) {
      for (Program &one : *programs) one.writes_steps = true;
    }
  }
  std::mt19937 &random() { return random_; }
  const std::vector<Program> &programs() const { return one_; }
  const TemporaryFolder one, other;

 private:
  std::mt19937 random_;
  std::vector<Program> one_, other_;
  bool one_clock_ = false;
};

inline std::unique_ptr<recorder::Recorder> recorder_of(const std::string &directory, uint64_t detail, uint64_t budget) {
  auto begun = recorder::Recorder::begin(directory, {detail, budget});
  if (!begun) fail(__FILE__, __LINE__, begun.error());
  return begun ? std::move(begun.value()) : nullptr;
}

/// All that a session answers, and what is missing of it.
inline std::string answers(session::ModelledTrace &session, const std::string &logs) {
  const auto bytes = session::checkpoint(*session.reader, session.model);
  trace::LogMerger &reader = *session.reader;
  QueriedModel model(session.names);
  std::ostringstream out;
  // A copy of the model is asked: over `logs`, which have all chunks.
  auto again = trace::LogMerger::open(logs);
  if (!again || !session::resume(bytes, *again.value(), model)) return "no answers";
  out << describe(model);
  for (size_t i = 0; i < reader.process_count(); ++i) {
    out << reader.facts(i).pid << ' ' << reader.losses(i).total() << ' ' << reader.tables(i).threads().size() << ' '
        << reader.tables(i).stack_count() << '\n';
  }
  out << reader.events();
  return out.str();
}

/// Who holds how much; processes may have been read in another order.
inline std::string ledgers(session::ModelledTrace &session) {
  std::set<std::string> lines;
  for (const model::Ledger &one : session.model.state().accounts.ledgers()) {
    std::ostringstream out;
    out << one.process << ' ' << one.live_bytes << ' ' << one.peak_bytes << ' ' << one.peak_ns << ' ' << one.allocations
        << ' ' << one.frees << '\n';
    lines.insert(out.str());
  }
  std::string all;
  for (const std::string &line : lines) all += line;
  return all + std::to_string(session.reader->events()) + ' ' + std::to_string(session.reader->losses().total());
}

/// Says where two texts differ.
inline void check_same(const std::string &one, const std::string &other, const std::string &what) {
  if (one == other) return;
  const auto at = static_cast<size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  const size_t from = at - std::min<size_t>(at, 200);
  fail(__FILE__, __LINE__,
       what + ", at " + std::to_string(at) + ":\n" + one.substr(from, 400) + "\n---\n" +
           other.substr(std::min(from, other.size()), 400));
}

inline std::unique_ptr<session::ModelledTrace> opened(const std::string &path, uint64_t until_ns = kEnd,
                                                      uint64_t latest_ns = kEnd) {
  auto session = session::open(path, until_ns, latest_ns);
  if (!session) fail(__FILE__, __LINE__, session.error());
  return session ? std::move(session.value()) : nullptr;
}
inline std::unique_ptr<session::ModelledTrace> read(const std::string &path, uint64_t until_ns = kEnd,
                                                    uint64_t latest_ns = kEnd) {
  auto session = opened(path, until_ns, latest_ns);
  while (session && session->poll(16384)) {
  }
  return session;
}

}  // namespace gmt::test
