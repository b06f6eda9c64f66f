#pragma once
// Reads a trace into a model on a thread of its own and answers others in between.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "session/modelled_trace.h"

namespace gmt::addon {

/// Of a session: what lies in [from_ns, until_ns].
struct TimeSpan {
  uint64_t from_ns = 0;
  uint64_t until_ns = ~0ull;
};

class Follower {
 public:
  /// Opens a trace directory or a saved trace and begins to read, up to the end of the span. The error is one sentence.
  static trace::Result<std::shared_ptr<Follower>> open(const std::string &path, const TimeSpan &span) {
    auto modelled = session::open(path, span.until_ns, span.until_ns);
    if (!modelled) return trace::Error{modelled.error()};
    std::shared_ptr<Follower> follower(new Follower(path, span.until_ns, std::move(modelled.value())));
    follower->thread_ = std::thread([raw = follower.get()] { raw->run(); });
    return follower;
  }
  ~Follower() { stop(); }

  /// What a query may read.
  struct View {
    const model::State &state;  ///< settled
    trace::LogMerger &reader;
    const std::string &session_json;
    uint64_t revision;
    bool live;
  };
  /// Calls `read(View)` between two slices of reading: waits a few ms at most.
  template <typename Read>
  auto query(Read read) {
    ++waiting_;
    std::unique_lock lock(mutex_);
    --waiting_;
    return read(View{modelled_->model.settled(), *modelled_->reader, session_json_, revision_.load(), live_});
  }
  /// Rises with every change that a question could see. Takes no lock.
  uint64_t revision() const { return revision_.load(std::memory_order_relaxed); }
  /// Waits until all that was in the logs at the call has been read; false when reading was stopped before.
  bool settle() {
    std::unique_lock turn(turns_mutex_);
    return catch_up([&](auto caught_up) { turns_changed_.wait(turn, caught_up); });
  }
  /// Takes the names that blocks got later, from one that has read on.
  void add_names_of(Follower &later) {
    const auto names = later.query([this](const View &view) { return model::first_names(view.state, until_ns_); });
    std::lock_guard lock(mutex_);
    modelled_->model.add_names(names);
    ++revision_;
  }
  /// Once a question can see something new, and all that there is then was read, `found(true)` is called on the reading thread;
  /// nothing more is read until the next call: all queries in between are of one moment. `found(false)`: reading takes longer.
  void next(std::function<void(bool)> found) {
    {
      std::lock_guard turn(turns_mutex_);
      paced_ = true;
      found_ = std::move(found);
    }
    turns_changed_.notify_all();
  }
  /// Makes the thread and everyone in settle() leave soon; may be called from any thread.
  void request_stop() {
    {
      std::lock_guard turn(turns_mutex_);
      stopping_ = true;
    }
    turns_changed_.notify_all();
  }
  void stop() {
    request_stop();
    std::lock_guard once(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }
  const std::string &path() const { return path_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kSlice = 16384;  ///< events between two chances for questions: about 1 ms
  static constexpr auto kLivePause = std::chrono::milliseconds(30);
  static constexpr auto kNextPause = std::chrono::milliseconds(10);  ///< a caller of `next` waits
  static constexpr auto kFactsPause = std::chrono::milliseconds(100);
  static constexpr auto kEndedPause = std::chrono::milliseconds(250);
  static constexpr auto kMostWait = std::chrono::milliseconds(20);  ///< of `next`, from the first that is new

  Follower(std::string path, uint64_t until_ns, std::unique_ptr<session::ModelledTrace> modelled)
      : path_(std::move(path)), until_ns_(until_ns), modelled_(std::move(modelled)) {}
  /// With the turns' lock, which `wait` gives away.
  template <typename Wait>
  bool catch_up(Wait wait) {
    // The turn that runs now may have passed what was written a moment ago: the next one has not.
    const uint64_t goal = turns_begun_ + 1;
    ++settling_;
    turns_changed_.notify_all();
    wait([&] { return stopping_ || turns_caught_up_ >= goal; });
    --settling_;
    return turns_caught_up_ >= goal;
  }
  void run() {
    while (!stopping_) {
      {
        std::lock_guard turn(turns_mutex_);
        ++turns_begun_;
      }
      const bool more = read_slice();
      report_next(more);
      if (more) continue;
      {
        std::lock_guard turn(turns_mutex_);
        turns_caught_up_ = turns_begun_;
      }
      turns_changed_.notify_all();
      pause();
    }
  }
  void report_next(bool more) {
    std::function<void(bool)> found;
    {
      std::lock_guard turn(turns_mutex_);
      if (!found_ || revision_ == reported_revision_) return;
      const auto now = Clock::now();
      if (new_since_ == Clock::time_point()) new_since_ = now;
      if (more && now - new_since_ < kMostWait) return;
      new_since_ = {};
      reported_revision_ = revision_;
      found = std::exchange(found_, nullptr);
    }
    found(!more);
  }
  /// False when there was nothing more to read.
  bool read_slice() {
    // A mutex is not fair: a waiting query goes first.
    while (waiting_ > 0 && !stopping_) std::this_thread::yield();
    std::lock_guard lock(mutex_);
    const uint64_t before = modelled_->model.state().revision;
    const bool more = modelled_->poll(kSlice);
    if (modelled_->reader->overtaken()) return open_again();
    const bool grew = modelled_->model.state().revision != before;
    if (grew) ++revision_;
    if ((!more && (grew || settling_ > 0)) || Clock::now() - refreshed_ > kFactsPause) refresh_facts();
    return more;
  }
  /// What this one had not read yet is in a checkpoint by now. False where it cannot be had, now.
  bool open_again() {
    auto modelled = session::open(path_, until_ns_, until_ns_);
    if (!modelled) return false;
    modelled_ = std::move(modelled.value());
    ++revision_;
    return true;
  }
  /// Everything besides events: live processes, what the launcher wrote, what was lost.
  void refresh_facts() {
    refreshed_ = Clock::now();
    std::string json = modelled_->reader->session_json();
    if (!json.empty()) session_json_ = std::move(json);  // the directory may have been deleted: what is known stays
    live_ = modelled_->reader->live();
    std::string facts = session_json_ + (live_ ? "live" : "ended");
    for (size_t process = 0; process < modelled_->reader->process_count(); ++process) {
      const trace::ProcessTables &tables = modelled_->reader->tables(process);
      facts += modelled_->reader->ended(process) ? " e" : " r";
      facts += modelled_->reader->facts(process).simulated ? "s" : "";
      for (const size_t count : {tables.threads().size(), tables.devices().size(), tables.notes().size()}) {
        facts += std::to_string(count) + ",";
      }
    }
    facts += std::to_string(modelled_->reader->losses().total());
    if (facts == facts_) return;
    facts_ = std::move(facts);
    ++revision_;
  }
  void pause() {
    bool live, saved;
    {
      std::lock_guard lock(mutex_);
      live = live_, saved = modelled_->reader->saved();
    }
    std::unique_lock turn(turns_mutex_);
    const auto called = [this, waited = found_ != nullptr] {
      return stopping_ || settling_ > 0 || (!waited && found_ != nullptr);
    };
    if (paced_ && (!found_ || saved))
      turns_changed_.wait(turn, called);
    else
      turns_changed_.wait_for(turn, !live ? kEndedPause : found_ ? kNextPause : kLivePause, called);
  }

  const std::string path_;
  const uint64_t until_ns_;
  std::mutex mutex_;  ///< guards what follows, up to the next blank line
  std::unique_ptr<session::ModelledTrace> modelled_;
  std::string session_json_;
  std::string facts_;  ///< what of the session is not an event, as text: a change of it is a new revision
  bool live_ = true;

  std::atomic<uint64_t> revision_{1};
  std::atomic<uint32_t> waiting_{0};
  std::atomic<bool> stopping_{false};
  std::mutex turns_mutex_;  ///< guards the turns and is what pauses wait with
  std::condition_variable turns_changed_;
  uint64_t turns_begun_ = 0;
  uint64_t turns_caught_up_ = 0;  ///< the last turn that found nothing more to read
  std::atomic<uint32_t> settling_ = 0;
  bool paced_ = false;               ///< what is read is as `next` says
  std::function<void(bool)> found_;  ///< empty between two calls of `next`
  uint64_t reported_revision_ = 0;   ///< the revision of the last report
  Clock::time_point new_since_{};    ///< there is a newer one

  Clock::time_point refreshed_{};
  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace gmt::addon
