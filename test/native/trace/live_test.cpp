// Many threads write while one reads: everything comes, in order, and while they write.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"
#include "log_writer.h"
#include "trace/saved/save.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

namespace {

constexpr uint32_t kThreads = 8;
constexpr uint64_t kPerThread = 60000;

void write_events(LogWriter &log, uint16_t thread) {
  uint32_t stack = log.add_stack_of(thread, {{"a.py", "f", thread + 1u}});
  for (uint64_t i = 0; i < kPerThread; ++i) {
    if (i % 1000 == 0) log.add_autograd(thread, GMT_AUTOGRAD_FORWARD, i, thread);
    if (i % 7 == 0) {
      gmt_driver_detail detail{};
      detail.stream = thread;
      detail.object = i;
      log.add_event(thread, detail, GMT_ASYNC_ALLOC, i, thread, 0, stack);
    } else {
      log.add_event(thread, GMT_TENSOR_ALLOC, i, thread, 0, stack);
    }
    if (i % 20000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Follows each thread's own count and what its details and autograd states say.
struct Checker {
  uint64_t sequence = 0, last_ns = 0, wrong = 0;
  uint64_t next[kThreads] = {};
  void operator()(const trace::Batch &batch) {
    for (const trace::Event &event : batch.events) {
      bool good = event.sequence == ++sequence && event.time_ns >= last_ns && event.thread < kThreads &&
                  event.address == next[event.thread] && event.bytes == event.thread;
      bool driver = event.address % 7 == 0;
      if (good && driver) good = event.detail && batch.details[event.detail - 1].object == event.address;
      if (good && !driver) {
        good = event.autograd && batch.autograds[event.autograd - 1].thread == event.thread &&
               batch.autograds[event.autograd - 1].sequence == event.address / 1000 * 1000;
      }
      last_ns = event.time_ns;
      if (event.thread < kThreads) ++next[event.thread];
      wrong += !good;
    }
  }
};

}  // namespace

TEST(everything_comes_in_order_while_threads_write) {
  TemporaryFolder folder;
  LogWriter log(folder.path(), LogOptions::alive());
  auto session = std::move(trace::LogMerger::open(folder.path()).value());
  std::vector<std::thread> writers;
  for (uint16_t i = 0; i < kThreads; ++i) writers.emplace_back(write_events, std::ref(log), i);
  Checker checker;
  uint64_t while_writing = 0;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (checker.sequence < kThreads * kPerThread && std::chrono::steady_clock::now() < deadline) {
    trace::PollResult result = session->poll(std::ref(checker), 50000);
    if (log.next_sequence() <= kThreads * kPerThread) while_writing += result.events;
    if (result.events == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread &writer : writers) writer.join();
  CHECK_EQ(checker.sequence, kThreads * kPerThread);
  CHECK_EQ(checker.wrong, 0u);
  CHECK(while_writing > 0);
  CHECK_EQ(session->losses().total(), 0u);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const trace::Stack *stack = session->tables(0).resolve(i + 1);
    CHECK(stack && stack->frames.size() == 1);
  }
}

TEST(saving_while_threads_write_takes_one_moment) {
  TemporaryFolder folder;
  LogWriter log(folder.path(), LogOptions::alive());
  std::vector<std::thread> writers;
  for (uint16_t i = 0; i < kThreads; ++i) writers.emplace_back(write_events, std::ref(log), i);
  for (int round = 0; round < 5; ++round) {
    std::string target = folder / "a.gputrace";
    auto error = trace::save(folder.path(), target, "{}");
    CHECK(!error);
    Reading reading = read_all(target);
    REQUIRE(reading.session);
    // At most what each thread had in its hands just then.
    CHECK(reading.session->losses().total() <= kThreads);
    CHECK_EQ(reading.session->losses().count[trace::kLostTorn], reading.session->losses().total());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread &writer : writers) writer.join();
}

TEST_MAIN
