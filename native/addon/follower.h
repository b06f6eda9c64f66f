#pragma once
// Reads a trace into a model on a thread of its own and answers others in between.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "session/session.h"

namespace gmt::addon {

/// Of a session: what lies in [from_ns, until_ns].
struct TimeSpan {
  uint64_t from_ns = 0;
  uint64_t until_ns = ~0ull;
};

class Follower {
 public:
  /// Opens a trace directory or a saved trace and begins to read, up to the end of the span. The error is one sentence.
  static trace::Result<std::shared_ptr<Follower>> open(const std::string &path, const TimeSpan &span);
  ~Follower() { stop(); }

  /// What a question may look at.
  struct View {
    const model::State &state;  ///< settled
    trace::SessionReader &reader;
    const std::string &session_json;
    uint64_t revision;
    double events_per_second;
    bool live;
  };
  /// Calls `question(View)` between two slices of reading: waits a few ms at most.
  template <typename Question>
  auto ask(Question question) {
    ++waiting_;
    std::unique_lock lock(mutex_);
    --waiting_;
    return question(View{session_->model.settled(), *session_->reader, session_json_, revision_.load(), rate_, live_});
  }
  /// Rises with every change that a question could see. Takes no lock.
  uint64_t revision() const { return revision_.load(std::memory_order_relaxed); }
  /// Waits until all that was in the logs at the call has been read; false when reading was stopped before.
  bool settle();
  /// Reads what was in the logs at the call, and waits for that a few ms at most; then nothing more is read until the next
  /// call: what is asked in between is of one moment. False where it took longer, and more is being read.
  bool advance();
  /// Makes the thread and everyone in settle() leave soon; may be called from any thread.
  void request_stop();
  /// Ends the thread.
  void stop();
  const std::string &path() const { return path_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kSlice = 16384;  ///< events between two chances for questions: about 1 ms
  static constexpr auto kLivePause = std::chrono::milliseconds(30);
  static constexpr auto kEndedPause = std::chrono::milliseconds(250);
  static constexpr auto kMostWait = std::chrono::milliseconds(20);  ///< of `advance`; the thread reads on afterwards

  Follower(std::string path, uint64_t until_ns, std::unique_ptr<session::Session> session)
      : path_(std::move(path)), until_ns_(until_ns), session_(std::move(session)) {}
  void run();
  bool read_slice();
  bool open_again();
  void look_around();
  void measure_rate();
  void pause();

  const std::string path_;
  const uint64_t until_ns_;
  std::mutex mutex_;  ///< guards what follows, up to the next blank line
  std::unique_ptr<session::Session> session_;
  std::string session_json_;
  std::string facts_;  ///< what of the session is not an event, as text: a change of it is a new revision
  double rate_ = 0;
  bool live_ = true;

  std::atomic<uint64_t> revision_{1};
  std::atomic<uint32_t> waiting_{0};
  std::atomic<bool> stopping_{false};
  std::mutex turns_mutex_;  ///< guards the turns and is what pauses wait with
  std::condition_variable turns_changed_;
  uint64_t turns_begun_ = 0;
  uint64_t turns_caught_up_ = 0;  ///< the last turn that found nothing more to read
  uint32_t settling_ = 0;
  bool stands_still_ = false;  ///< between two calls of `advance`

  Clock::time_point looked_{};
  Clock::time_point measured_{};
  uint64_t measured_events_ = 0;
  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace gmt::addon
