// A reader that the recorder overtakes goes on from the newest checkpoint, and counts nothing as torn.
#include <atomic>
#include <thread>

#include "recorded.h"

using namespace gmt;
using namespace gmt::test;

namespace {

/// Threads that allocate, each in its own chunks, as fast as it goes; what must be alive at the end.
struct Storm {
  static constexpr uint64_t kThreads = 3, kEach = 400'000, kLiving = 5;
  explicit Storm(const std::string &folder) : log(folder, LogOptions::alive()) {
    for (uint16_t thread = 0; thread < kThreads; ++thread)
      stacks.push_back(log.add_stack_of(thread, {{"train.py", "main", 10u + thread}}));
    for (uint16_t thread = 0; thread < kThreads; ++thread) threads.emplace_back([this, thread] { write(thread); });
  }
  ~Storm() { join(); }
  void write(uint16_t thread) {
    const uint64_t base = (1ull + thread) << 40;
    for (uint64_t i = 0; i < kEach; ++i) {
      log.add_event(thread, GMT_TENSOR_ALLOC, base + i * 512, 512, 0, stacks[thread]);
      if (i >= kLiving) log.add_event(thread, GMT_TENSOR_FREE, base + (i - kLiving) * 512, 0, 0);
    }
    ++done;
  }
  void join() {
    for (std::thread &one : threads) {
      if (one.joinable()) one.join();
    }
  }
  bool over() const { return done == kThreads; }
  void check(session::ModelledTrace &session) const {
    CHECK_EQ(session.reader->losses().total(), 0u);
    CHECK_EQ(session.reader->events(), kThreads * (2 * kEach - kLiving));
    CHECK_EQ(session.reader->tables(0).stack_count(), kThreads);
    int64_t live = 0, allocations = 0;
    for (const model::Ledger &ledger : session.model.state().accounts.ledgers()) {
      live += ledger.live_bytes;
      allocations += static_cast<int64_t>(ledger.allocations);
    }
    CHECK_EQ(live, static_cast<int64_t>(kThreads * kLiving * 512));
    CHECK_EQ(allocations, static_cast<int64_t>(kThreads * kEach));
  }
  LogWriter log;
  std::vector<uint32_t> stacks;
  std::atomic<uint64_t> done{0};
  std::vector<std::thread> threads;
};

/// Reads on, and anew where it was overtaken. How often that was.
int follow(const std::string &path, const Storm &storm, uint64_t events, std::chrono::microseconds pause,
           std::unique_ptr<session::ModelledTrace> &session) {
  int overtaken = 0;
  for (bool last = false;;) {
    const bool more = session->poll(events);
    if (session->reader->overtaken()) {
      ++overtaken;
      session = opened(path);
      continue;
    }
    CHECK_EQ(session->reader->losses().total(), 0u);
    if (last && !more) return overtaken;
    last = storm.over() && !more;
    std::this_thread::sleep_for(last ? std::chrono::microseconds(0) : pause);
  }
}

/// A recorder of the directory that folds all the time.
class Recording {
 public:
  explicit Recording(const std::string &directory)
      : thread_([this, directory] {
          auto recorder = recorder_of(directory, 1 << 20, 8 << 20);
          while (recorder && !stops_) {
            recorder->turn();
            recorder->fold();
            ++turns_;
          }
        }) {}
  /// Returns once all has been folded that is there now.
  void wait() const {
    for (const int begun = turns_; turns_ < begun + 2;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void stop() {
    stops_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stops_{false};
  std::atomic<int> turns_{0};
  std::thread thread_;
};

}  // namespace

TEST(readers_of_every_speed_see_all_while_old_chunks_go) {
  const TemporaryFolder folder;
  auto storm = std::make_unique<Storm>(folder.path());
  Recording recording(folder.path());
  auto quick = opened(folder.path()), slow = opened(folder.path()), late = opened(folder.path());
  late->poll(4096);
  std::thread other([&] { follow(folder.path(), *storm, 1 << 20, std::chrono::microseconds(100), quick); });
  follow(folder.path(), *storm, 4096, std::chrono::milliseconds(20), slow);
  other.join();
  recording.wait();
  recording.stop();
  CHECK(follow(folder.path(), *storm, 4096, std::chrono::microseconds(0), late) > 0);
  storm->check(*quick);
  storm->check(*slow);
  storm->check(*late);
  storm->check(*read(folder.path()));
}

TEST(while_a_trace_is_saved_nothing_goes) {
  const TemporaryFolder folder;
  auto storm = std::make_unique<Storm>(folder.path());
  Recording recording(folder.path());
  int saved = 0;
  for (const TemporaryFolder target; !storm->over(); ++saved) {
    const std::string path = target / "a.gputrace";
    CHECK(!session::save(folder.path(), path, "{}", {}));
    const auto whole = read(path);
    if (!whole) break;
    CHECK(whole->reader->losses().total() <= Storm::kThreads);  // each may have been writing one
    CHECK(whole->reader->notes().empty());
  }
  CHECK(saved > 0);
  recording.stop();
}

TEST_MAIN
