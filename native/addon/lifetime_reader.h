#pragma once
// Reads a trace from begin to end and hands out its allocations in batches.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "addon/follower.h"
#include "model/ingest/lifetimes.h"

namespace gmt::addon {

/// An allocation and who made it.
struct LifetimeRow {
  model::Lifetime lifetime;
  uint32_t site;
  uint32_t process;
  uint32_t thread;
  model::Layer layer;
  uint32_t module;  ///< in LifetimeRows::modules
};

struct LifetimeRows {
  std::vector<LifetimeRow> rows;
  std::vector<std::string> modules;  ///< paths, each once
};

class LifetimeReader {
 public:
  /// Only what ended in the span or later, of the events up to its end. The error is one sentence.
  static trace::Result<std::shared_ptr<LifetimeReader>> open(const std::string &path, const TimeSpan &span);

  /// Reads until there are `count` allocations, or to the end. False: it was stopped before. For one thread at a time.
  bool next(size_t count, LifetimeRows &rows);
  /// Makes next() return soon, now and ever; from any thread.
  void stop() { stopping_ = true; }

  /// As Follower::ask.
  template <typename Question>
  auto ask(Question question) {
    ++waiting_;
    std::unique_lock lock(mutex_);
    --waiting_;
    model::Model &model = session_->model;
    return question(
        Follower::View{model.settled(), *session_->reader, session_json_, model.state().revision, 0, !ended_});
  }

 private:
  static constexpr uint64_t kSlice = 16384;  ///< events between two chances for questions

  LifetimeReader(std::unique_ptr<session::Session> session, uint64_t from_ns);
  bool slice(size_t count);
  void take(size_t count, LifetimeRows &rows);

  std::mutex mutex_;  ///< guards what follows, up to the next blank line
  std::unique_ptr<session::Session> session_;
  model::LifetimeLog log_;
  std::string session_json_;
  bool ended_ = false;

  std::atomic<uint32_t> waiting_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace gmt::addon
