// One order out of many threads' chunks; gaps, damage, autograd state, time bases.
#include "trace/log/merge.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "log_writer.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

namespace {

// Reads a log by itself, so that sealing and time are in the test's hand.
struct LogReading {
  explicit LogReading(const LogWriter &writer)
      : log(std::move(trace::LogFile::open(writer.path()).value())), merge(trace::Clock(log.header(), 0)) {}
  size_t read(bool sealed, uint64_t now_ns = 0) {
    size_t before = events.size();
    bool more = true;
    while (more) {
      batch.clear();
      more = merge.read(log, tables, batch, sealed, now_ns);
      trace::Batch b = batch.batch(0);
      events.insert(events.end(), b.events.begin(), b.events.end());
    }
    return events.size() - before;
  }
  uint64_t lost(uint32_t cause) const { return merge.losses().count[cause]; }
  trace::LogFile log;
  trace::ProcessTables tables;
  trace::BatchBuilder batch;
  trace::Merge merge;
  std::vector<trace::Event> events;
};

bool in_order(const std::vector<trace::Event> &events) {
  for (size_t i = 1; i < events.size(); ++i) {
    if (events[i].sequence <= events[i - 1].sequence || events[i].time_ns < events[i - 1].time_ns) return false;
  }
  return true;
}

}  // namespace

TEST(fields_of_an_event_come_out) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.at(5000);
  log.add_event(3, GMT_DEVICE_ALLOC | GMT_FAILED, 0x7f0000001000, (1ull << 47) + 5, 7, 42);
  LogReading reading(log);
  REQUIRE(reading.read(true) == 1);
  const trace::Event &event = reading.events[0];
  CHECK_EQ(event.sequence, 1u);
  CHECK_EQ(event.time_ns, 5000u);
  CHECK_EQ(event.address, 0x7f0000001000u);
  CHECK_EQ(event.bytes, (1ull << 47) + 5);
  CHECK_EQ(event.stack, 42u);
  CHECK_EQ(event.thread, 3u);
  CHECK_EQ(event.device, 7u);
  CHECK_EQ(event.kind, GMT_DEVICE_ALLOC | GMT_FAILED);
  CHECK_EQ(event.detail, 0u);
  CHECK_EQ(event.autograd, 0u);
}

TEST(threads_that_alternate_are_merged) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  constexpr uint64_t kEvents = 100000;
  uint32_t state = 1;
  for (uint64_t i = 0; i < kEvents; ++i) {
    state = state * 1664525 + 1013904223;
    log.add_event(static_cast<uint16_t>(state >> 28), GMT_TENSOR_ALLOC, i, 512);
  }
  LogReading reading(log);
  CHECK_EQ(reading.read(true), kEvents);
  CHECK(in_order(reading.events));
  for (uint64_t i = 0; i < reading.events.size(); ++i) {
    if (reading.events[i].address != i) return fail(__FILE__, __LINE__, "order at " + std::to_string(i));
  }
  CHECK_EQ(reading.merge.losses().total(), 0u);
}

TEST(chunks_without_a_header_and_out_of_order_are_fine) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.reserve_unwritten_chunk();
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.add_event(1, GMT_TENSOR_ALLOC, 2, 512);
  log.add_event(0, GMT_TENSOR_ALLOC, 3, 512);
  // The later chunk names the earlier sequence, as when its thread was held up between the two.
  reinterpret_cast<gmt_chunk_header *>(log.chunk(2))->first_sequence = 1;
  log.reserve_unwritten_chunk();
  LogReading reading(log);
  CHECK_EQ(reading.read(true), 3u);
  CHECK(in_order(reading.events));
  CHECK_EQ(reading.merge.losses().total(), 0u);
}

TEST(a_torn_event_is_waited_for_while_the_process_lives) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(1, GMT_TENSOR_ALLOC, 1, 512);
  uint64_t torn = log.add_torn_event();
  log.add_event(0, GMT_TENSOR_ALLOC, 3, 512);
  LogReading reading(log);
  constexpr uint64_t kBegin = 1'000'000'000;
  CHECK_EQ(reading.read(false, kBegin), 1u);
  CHECK_EQ(reading.read(false, kBegin + trace::Merge::kMaxWaitNs - 1), 0u);
  log.add_late_event(1, torn, GMT_TENSOR_ALLOC, 2, 512);
  CHECK_EQ(reading.read(false, kBegin + trace::Merge::kMaxWaitNs - 1), 2u);
  CHECK(in_order(reading.events));
  CHECK_EQ(reading.merge.losses().total(), 0u);
}

TEST(a_torn_event_is_lost_after_two_seconds) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_note(1, GMT_NOTE_TORCH, "the chunk is there before the event");
  uint64_t torn = log.add_torn_event();
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  LogReading reading(log);
  CHECK_EQ(reading.read(false, 1), 0u);
  // Taken after the wait began: not given up with the old one.
  log.add_torn_event();
  CHECK_EQ(reading.read(false, 1 + trace::Merge::kMaxWaitNs), 1u);
  CHECK_EQ(reading.lost(trace::kLostTorn), 1u);
  // What comes too late is passed over: it was counted.
  log.add_late_event(1, torn, GMT_TENSOR_ALLOC, 9, 512);
  log.add_event(1, GMT_TENSOR_ALLOC, 2, 512);
  CHECK_EQ(reading.read(true), 1u);
  CHECK_EQ(reading.lost(trace::kLostTorn), 2u);
  CHECK_EQ(reading.merge.losses().total(), 2u);
  CHECK(in_order(reading.events));
}

TEST(a_torn_event_of_a_stopped_process_is_waited_for) {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  ::kill(child, SIGSTOP);
  REQUIRE(::waitpid(child, nullptr, WUNTRACED) == child);
  LogWriter log(folder.path(), {.pid = static_cast<uint32_t>(child)});
  log.add_note(1, GMT_NOTE_TORCH, "the chunk is there before the event");
  const uint64_t torn = log.add_torn_event();
  LogReading reading(log);
  uint64_t now = 1;
  for (int i = 0; i < 5; ++i) CHECK_EQ(reading.read(false, now += trace::Merge::kMaxWaitNs), 0u);
  ::kill(child, SIGCONT);
  ::waitpid(child, nullptr, WCONTINUED);
  CHECK_EQ(reading.read(false, now + trace::Merge::kMaxWaitNs - 1), 0u);
  log.add_late_event(1, torn, GMT_TENSOR_ALLOC, 9, 512);
  CHECK_EQ(reading.read(false, now + trace::Merge::kMaxWaitNs), 1u);
  CHECK_EQ(reading.merge.losses().total(), 0u);
  ::kill(child, SIGKILL);
}

TEST(a_torn_event_is_lost_when_a_million_wait) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_torn_event();
  for (uint64_t i = 0; i < trace::Merge::kMaxWaitingEvents - 1; ++i) log.add_event(0, GMT_TENSOR_ALLOC, i, 512);
  LogReading reading(log);
  CHECK_EQ(reading.read(false), 0u);
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  CHECK_EQ(reading.read(false), trace::Merge::kMaxWaitingEvents);
  CHECK_EQ(reading.lost(trace::kLostTorn), 1u);
}

TEST(a_dead_process_is_read_to_its_last_event) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (uint16_t thread = 0; thread < 50; ++thread) {
    log.add_event(thread, GMT_TENSOR_ALLOC, thread, 512);
    log.add_torn_event();
    log.add_event(thread, GMT_TENSOR_FREE, thread, 512);
  }
  log.add_torn_event();
  LogReading reading(log);
  CHECK_EQ(reading.read(true), 100u);
  CHECK_EQ(reading.lost(trace::kLostTorn), 51u);
  CHECK_EQ(reading.merge.losses().total(), 51u);
  CHECK(in_order(reading.events));
}

TEST(a_damaged_chunk_is_counted_and_passed_over) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (int i = 0; i < 100; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.end_chunk(0);
  for (int i = 0; i < 200; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 2, 512);
  log.end_chunk(0);
  for (int i = 0; i < 300; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 3, 512);
  log.chunk(1)[0] ^= 0xff;
  LogReading reading(log);
  CHECK_EQ(reading.read(true), 400u);
  CHECK_EQ(reading.lost(trace::kLostCorrupt), 200u);
  CHECK_EQ(reading.lost(trace::kLostTorn), 0u);
}

TEST(a_damaged_record_ends_its_chunk_only) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (int i = 0; i < 10; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.add_note(0, GMT_NOTE_TORCH, "a note");
  for (int i = 0; i < 20; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 2, 512);
  for (int i = 0; i < 30; ++i) log.add_event(1, GMT_TENSOR_ALLOC, 3, 512);
  auto *note = reinterpret_cast<gmt_side_record *>(log.chunk(0) + GMT_CHUNK_HEADER_BYTES + 10 * GMT_SLOT_BYTES);
  REQUIRE(note->kind == GMT_NOTE);
  for (uint16_t bad : {0, 9000}) {
    note->slots = bad;
    LogReading reading(log);
    CHECK_EQ(reading.read(true), 40u);
    CHECK_EQ(reading.lost(trace::kLostCorrupt), 20u);
    CHECK_EQ(reading.lost(trace::kLostTorn), 0u);
  }
}

TEST(impossible_sequences_are_counted_as_damage) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (int i = 0; i < 10; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  auto slot = [&](int i) {
    return reinterpret_cast<gmt_event *>(log.chunk(0) + GMT_CHUNK_HEADER_BYTES + i * GMT_SLOT_BYTES);
  };
  slot(4)->commit = 1ull << 50;  // far beyond what was handed out
  slot(7)->commit = 2ull << 16;  // a second time
  LogReading reading(log);
  CHECK_EQ(reading.read(true), 8u);
  CHECK_EQ(reading.lost(trace::kLostCorrupt), 2u);
  CHECK_EQ(reading.merge.losses().total(), 2u);
  CHECK(in_order(reading.events));
}

TEST(autograd_state_is_of_the_thread) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_autograd(0, GMT_AUTOGRAD_FORWARD, 7, 1);
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.add_event(1, GMT_TENSOR_ALLOC, 2, 512);
  log.end_chunk(0);
  log.add_event(0, GMT_TENSOR_ALLOC, 3, 512);
  log.add_event(0, GMT_DEVICE_ALLOC, 4, 512);
  log.add_event(0, GMT_FREE, 4, 512);  // frees of the driver do not carry it
  log.add_autograd(1, GMT_AUTOGRAD_BACKWARD, 9, 2);
  log.hand_over(0, 5);
  log.add_event(5, GMT_TENSOR_ALLOC, 5, 512);  // another thread in the first one's chunk
  log.add_event(1, GMT_TENSOR_ALLOC, 6, 512);
  log.add_autograd(1, GMT_AUTOGRAD_NONE, 0);
  log.add_event(1, GMT_TENSOR_ALLOC, 7, 512);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 1);
  const StoredBatch &batch = reading.batches[0];
  REQUIRE(batch.events.size() == 8);
  auto sequence = [&](int i) {
    uint32_t place = batch.events[i].autograd;
    return place ? batch.autograds.at(place - 1).sequence : 0;
  };
  uint64_t expected[] = {7, 0, 7, 7, 0, 0, 9, 0};
  for (int i = 0; i < 8; ++i) CHECK_EQ(sequence(i), expected[i]);
  CHECK_EQ(batch.autograds.size(), 2u);
}

TEST(autograd_state_goes_on_into_the_next_batch) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_autograd(0, GMT_AUTOGRAD_FORWARD, 7, 1);
  for (int i = 0; i < 20000; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 3);
  for (const StoredBatch &batch : reading.batches) {
    CHECK_EQ(batch.autograds.size(), 1u);
    CHECK_EQ(batch.events.front().autograd, 1u);
    CHECK_EQ(batch.events.back().autograd, 1u);
  }
}

TEST(nodes_come_no_later_than_the_events_that_name_them) {
  TemporaryFolder folder;
  LogWriter log(folder.path(), LogOptions::alive());
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  auto session = std::move(trace::LogMerger::open(folder.path()).value());
  uint64_t nodes = 0, events = 0, too_late = 0;
  auto sink = [&](const trace::Batch &batch) {
    nodes += batch.nodes.size();
    events += batch.events.size();
    for (const gmt_autograd &state : batch.autograds) too_late += state.sequence > nodes;
  };
  for (uint64_t i = 1; i <= 100; ++i) {
    log.add_node(0, i, 1, 1);
    if (i % 10 == 0) log.end_chunk(0);
    log.add_autograd(1, GMT_AUTOGRAD_BACKWARD, i, 1);
    log.add_event(1, GMT_TENSOR_ALLOC, 2, 512);
    session->poll(sink);
    CHECK_EQ(nodes, i);
  }
  log.add_node(0, 101, 1, 1);  // without an event
  session->poll(sink);
  CHECK_EQ(nodes, 101u);
  CHECK_EQ(events, 101u);
  CHECK_EQ(too_late, 0u);
  CHECK_EQ(session->losses().total(), 0u);
}

TEST(a_detail_is_about_the_next_event) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  gmt_driver_detail detail{};
  detail.stream = 0x123;
  detail.result = 2;
  for (int i = 0; i < 9000; ++i) {
    log.add_event(0, GMT_RESERVED, 0, 1);
    detail.object = static_cast<uint64_t>(i);
    log.add_event(0, detail, GMT_ASYNC_ALLOC, 0x1000, 512);
    log.add_event(1, GMT_TENSOR_ALLOC, 0, 1);
  }
  Reading reading = read_all(folder.path());
  uint64_t seen = 0;
  for (const StoredBatch &batch : reading.batches) {
    for (const trace::Event &event : batch.events) {
      if ((event.kind == GMT_ASYNC_ALLOC) != (event.detail != 0)) return fail(__FILE__, __LINE__, "detail");
      if (event.detail && batch.details.at(event.detail - 1).object != seen++) return fail(__FILE__, __LINE__, "which");
    }
  }
  CHECK_EQ(seen, 9000u);
}

TEST(a_long_silence_gets_a_time_base) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.at(1000);
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.at(3'600'000'000'000);
  log.add_event(0, GMT_TENSOR_ALLOC, 2, 512);
  LogReading reading(log);
  REQUIRE(reading.read(true) == 2);
  CHECK_EQ(reading.events[1].time_ns, 3'600'000'000'000u);
}

TEST(a_damaged_time_does_not_move_later_ones) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.at(1000);
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.end_chunk(0);
  log.add_event(0, GMT_TENSOR_ALLOC, 2, 512);
  log.end_chunk(0);
  log.at(9000);
  log.add_event(0, GMT_TENSOR_ALLOC, 3, 512);
  reinterpret_cast<gmt_chunk_header *>(log.chunk(1))->monotonic_ns = 1ull << 62;
  LogReading reading(log);
  REQUIRE(reading.read(true) == 3);
  CHECK_EQ(reading.events[2].time_ns, 9000u);
  CHECK_EQ(reading.lost(trace::kLostCorrupt), 1u);
}

TEST_MAIN

TEST(an_index_that_is_used_again_is_another_thread) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  // Thread 0 writes in chunk 0, thread 1 in chunk 1; both end, and thread 2 goes on in chunk 0 with the index 1.
  log.add_thread_record(0, 100, "first");
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  log.add_thread_record(1, 101, "second");
  log.add_autograd(1, GMT_AUTOGRAD_FORWARD, 7);
  for (int i = 0; i < 3; ++i) log.add_event(1, GMT_TENSOR_ALLOC, 0x2000u + static_cast<unsigned>(i), 512);
  log.take_over(1, 2, 0);
  log.add_thread_record(1, 102, "third");
  log.add_event(1, GMT_TENSOR_ALLOC, 0x3000, 512);
  LogReading reading(log);
  REQUIRE(reading.read(true) == 5);
  std::vector<uint32_t> threads, states;
  for (const trace::Event &event : reading.events) {
    threads.push_back(event.thread);
    states.push_back(event.autograd != 0);
  }
  CHECK(threads == (std::vector<uint32_t>{0, 1, 1, 1, 2}));
  CHECK(states == (std::vector<uint32_t>{0, 1, 1, 1, 0}));
  for (uint32_t number = 0; number < 3; ++number) {
    REQUIRE(reading.tables.thread(number));
    CHECK_EQ(reading.tables.thread(number)->tid, 100 + number);
  }
  CHECK_EQ(reading.lost(trace::kLostCorrupt), 0u);
}

TEST(a_writer_of_nonsense_ends_its_chunk) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  log.take_over(1, ~0u, 0);
  log.add_event(1, GMT_TENSOR_ALLOC, 0x2000, 512);
  LogReading reading(log);
  CHECK_EQ(reading.read(true), 1u);
  CHECK_EQ(reading.lost(trace::kLostTorn) + reading.lost(trace::kLostCorrupt), 1u);
}
