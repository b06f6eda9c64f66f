#include "addon/follower.h"

namespace gmt::addon {

trace::Result<std::shared_ptr<Follower>> Follower::open(const std::string &path, const TimeSpan &span) {
  auto session = session::open(path, span.until_ns, span.until_ns);
  if (!session) return trace::Error{session.error()};
  std::shared_ptr<Follower> follower(new Follower(path, span.until_ns, std::move(session.value())));
  follower->thread_ = std::thread([raw = follower.get()] { raw->run(); });
  return follower;
}

void Follower::run() {
  while (!stopping_) {
    {
      std::lock_guard turn(turns_mutex_);
      ++turns_begun_;
    }
    if (read_slice()) continue;
    {
      std::lock_guard turn(turns_mutex_);
      turns_caught_up_ = turns_begun_;
    }
    turns_changed_.notify_all();
    pause();
  }
}

/// False when there was nothing more to read.
bool Follower::read_slice() {
  // A mutex is not fair: whoever waits to ask goes first.
  while (waiting_ > 0 && !stopping_) std::this_thread::yield();
  std::lock_guard lock(mutex_);
  const uint64_t before = session_->model.state().revision;
  const bool more = session_->poll(kSlice);
  if (session_->reader->overtaken()) return open_again();
  if (session_->model.state().revision != before) ++revision_;
  measure_rate();
  if (!more || Clock::now() - looked_ > kEndedPause) look_around();
  return more;
}

/// What this one had not read yet is in a checkpoint by now. False where it cannot be had, now.
bool Follower::open_again() {
  auto session = session::open(path_, until_ns_, until_ns_);
  if (!session) return false;
  session_ = std::move(session.value());
  measured_ = {};
  ++revision_;
  return true;
}

void Follower::measure_rate() {
  const auto now = Clock::now();
  const std::chrono::duration<double> passed = now - measured_;
  if (measured_ != Clock::time_point{} && passed.count() < 0.5) return;
  const uint64_t events = session_->model.state().events;
  if (measured_ != Clock::time_point{}) rate_ = static_cast<double>(events - measured_events_) / passed.count();
  measured_ = now;
  measured_events_ = events;
}

/// Everything besides events: who lives, what the launcher wrote, what was lost.
void Follower::look_around() {
  looked_ = Clock::now();
  std::string json = session_->reader->session_json();
  if (!json.empty()) session_json_ = std::move(json);  // the directory may have been deleted: what is known stays
  live_ = session_->reader->live();
  std::string facts = session_json_ + (live_ ? "live" : "ended");
  for (size_t process = 0; process < session_->reader->process_count(); ++process) {
    const trace::ProcessTables &tables = session_->reader->tables(process);
    facts += session_->reader->ended(process) ? " e" : " r";
    facts += session_->reader->facts(process).simulated ? "s" : "";
    for (const size_t count : {tables.threads().size(), tables.devices().size(), tables.notes().size()}) {
      facts += std::to_string(count) + ",";
    }
  }
  facts += std::to_string(session_->reader->losses().total());
  if (facts == facts_) return;
  facts_ = std::move(facts);
  ++revision_;
}

void Follower::pause() {
  bool live;
  {
    std::lock_guard lock(mutex_);
    live = live_;
  }
  std::unique_lock turn(turns_mutex_);
  const auto called = [this] { return stopping_ || settling_ > 0; };
  if (stands_still_)
    turns_changed_.wait(turn, called);
  else
    turns_changed_.wait_for(turn, live ? kLivePause : kEndedPause, called);
}

bool Follower::settle() {
  std::unique_lock turn(turns_mutex_);
  // The turn that runs now may have passed what was written a moment ago: the next one has not.
  const uint64_t wanted = turns_begun_ + 1;
  ++settling_;
  turns_changed_.notify_all();
  turns_changed_.wait(turn, [&] { return stopping_ || turns_caught_up_ >= wanted; });
  --settling_;
  return turns_caught_up_ >= wanted;
}

bool Follower::advance() {
  std::unique_lock turn(turns_mutex_);
  stands_still_ = true;
  const uint64_t wanted = turns_begun_ + 1;
  ++settling_;
  turns_changed_.notify_all();
  turns_changed_.wait_for(turn, kMostWait, [&] { return stopping_ || turns_caught_up_ >= wanted; });
  --settling_;
  return turns_caught_up_ >= wanted;
}

void Follower::request_stop() {
  {
    std::lock_guard turn(turns_mutex_);
    stopping_ = true;
  }
  turns_changed_.notify_all();
}

void Follower::stop() {
  request_stop();
  std::lock_guard once(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace gmt::addon
