#pragma once
// Reads a trace from begin to end and hands out its allocations in batches.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "addon/follower.h"
#include "model/ingest/lifetimes.h"
#include "model/query/modules.h"

namespace gmt::addon {

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
  static trace::Result<std::shared_ptr<LifetimeReader>> open(const std::string &path, const TimeSpan &span) {
    const auto [from_ns, until_ns] = span;
    // What ended before a checkpoint ended before `from_ns`.
    const uint64_t latest_ns = std::min(from_ns == 0 ? 0 : from_ns - 1, until_ns);
    auto modelled = session::open(path, until_ns, latest_ns);
    if (!modelled) return trace::Error{modelled.error()};
    return std::shared_ptr<LifetimeReader>(new LifetimeReader(std::move(modelled.value()), from_ns));
  }

  /// Reads until there are `count` allocations, or to the end. False: it was stopped before. For one thread at a time.
  bool next(size_t count, LifetimeRows &rows) {
    while (!stopping_) {
      // A mutex is not fair: a waiting query goes first.
      while (waiting_ > 0 && !stopping_) std::this_thread::yield();
      std::lock_guard lock(mutex_);
      if (slice(count)) continue;
      take(count, rows);
      return true;
    }
    return false;
  }
  /// Gives what is alive at the end the names that it got later, as a reader knows them that has read on.
  void add_names_of(Follower &later) {
    auto names = later.query([](const Follower::View &view) { return model::first_names(view.state, ~0ull); });
    std::lock_guard lock(mutex_);
    late_names_ = std::move(names);
  }
  /// Makes next() return soon, now and ever; from any thread.
  void stop() { stopping_ = true; }

  /// As Follower::query.
  template <typename Read>
  auto query(Read read) {
    ++waiting_;
    std::unique_lock lock(mutex_);
    --waiting_;
    model::Model &model = modelled_->model;
    return read(Follower::View{model.settled(), *modelled_->reader, session_json_, model.state().revision, !ended_});
  }

 private:
  static constexpr uint64_t kSlice = 16384;  ///< events between two chances for questions

  LifetimeReader(std::unique_ptr<session::ModelledTrace> modelled, uint64_t from_ns)
      : modelled_(std::move(modelled)), log_(from_ns), session_json_(modelled_->reader->session_json()) {
    modelled_->model.log_lifetimes(&log_);
  }
  /// False once there are `count` allocations or all was read.
  bool slice(size_t count) {
    if (ended_ || log_.ready().size() >= count) return false;
    ended_ = !modelled_->poll(kSlice);
    if (modelled_->reader->overtaken())
      modelled_->reader->note(
          "Later events are no longer stored: they were older than the full-detail window (--detail).");
    if (ended_) {
      modelled_->model.add_names(late_names_);
      modelled_->model.finish_lifetimes();
    }
    return true;
  }
  void take(size_t count, LifetimeRows &to) {
    const model::State &state = modelled_->model.settled();
    const model::Accounts &accounts = state.accounts;
    std::unordered_map<std::string, uint32_t> numbers;
    const auto number_of = [&](const std::string &module) {
      const auto [found, fresh] = numbers.try_emplace(module, static_cast<uint32_t>(to.modules.size()));
      if (fresh) to.modules.push_back(module);
      return found->second;
    };
    std::unordered_map<uint32_t, uint32_t> by_cell;  // of the module that made it
    const auto module_of = [&](const model::Lifetime &one, const model::CellInfo &maker) {
      const auto &texts = state.process(maker.process)->names.texts();
      const auto named = one.name == 0 ? std::nullopt : model::module_by_name(texts[one.name], one.category);
      if (named) return number_of(*named);
      const auto [found, fresh] = by_cell.try_emplace(one.cell);
      if (fresh) found->second = number_of(state.names.module_path(maker.process, maker.stack));
      return found->second;
    };
    auto &ready = log_.ready();
    const auto end = ready.begin() + static_cast<std::ptrdiff_t>(std::min(count, ready.size()));
    for (auto one = ready.begin(); one != end; ++one) {
      const model::CellInfo &maker = accounts.cell_infos()[one->cell];
      to.rows.push_back(
          {*one, accounts.site_of(one->cell), maker.process, maker.thread, maker.layer, module_of(*one, maker)});
    }
    ready.erase(ready.begin(), end);
  }

  std::mutex mutex_;  ///< guards what follows, up to the next blank line
  std::unique_ptr<session::ModelledTrace> modelled_;
  model::LifetimeLog log_;
  std::vector<model::LateName> late_names_;
  std::string session_json_;
  bool ended_ = false;

  std::atomic<uint32_t> waiting_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace gmt::addon
