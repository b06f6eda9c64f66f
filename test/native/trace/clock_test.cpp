#include "check.h"
#include "log_writer.h"
#include "trace/log/session_clock.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

TEST(monotonic_passes_through) {
  gmt_file_header header{};
  header.clock = GMT_CLOCK_MONOTONIC_NS;
  header.start_ticks = header.start_monotonic_ns = 1000;
  trace::Clock clock(header, 50);
  uint64_t ns = 0;
  CHECK(clock.session_ns(1500, 1500, &ns));
  CHECK_EQ(ns, 550u);
  CHECK_EQ(clock.ns_per_tick(), 1.0);
  CHECK(clock.calibrated());
  CHECK(!clock.session_ns(999, 999, &ns));
  CHECK(!clock.session_ns(1500, 5'000'000'000, &ns));
}

TEST(the_pair_furthest_away_gives_the_rate) {
  gmt_file_header header{};
  header.clock = GMT_CLOCK_TSC;
  header.start_ticks = 1000;
  header.start_monotonic_ns = 1000;
  trace::Clock clock(header, 0);
  CHECK(!clock.calibrated());
  clock.add_pair(1000 + 30, 1000 + 12);
  CHECK_EQ(clock.ns_per_tick(), 0.4);
  clock.add_pair(1000 + 3'000'000, 1000 + 1'000'000);
  CHECK(clock.ns_per_tick() > 0.33333 && clock.ns_per_tick() < 0.33334);
  double settled = clock.ns_per_tick();
  clock.add_pair(1000 + 3'000'100, 1000 + 1'000'010);  // hardly further
  clock.add_pair(5, 9'000'000);                        // before the start
  clock.add_pair(2000, 9'000'000'000);                 // no clock is that slow
  CHECK_EQ(clock.ns_per_tick(), settled);
}

TEST(tsc_events_get_their_times) {
  TemporaryFolder folder;
  LogOptions options;
  options.clock = GMT_CLOCK_TSC;
  options.ns_per_tick = 1 / 2.9;
  LogWriter log(folder.path(), options);
  log.step_ns = 100'000;
  for (int i = 0; i < 100000; ++i) log.add_event(static_cast<uint16_t>(i % 3), GMT_TENSOR_ALLOC, 1, 512);
  Reading reading = read_all(folder.path());
  auto events = reading.events();
  REQUIRE(events.size() == 100000);
  int64_t worst = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<int64_t>(events[i].time_ns) - static_cast<int64_t>(i * 100'000)));
  }
  CHECK(worst < 100);
}

TEST(session_time_begins_with_the_earliest_process) {
  TemporaryFolder folder;
  LogOptions late, early;
  late.pid = 5000001;
  late.start_realtime_ns += 7'000;
  early.pid = 5000002;
  early.start_monotonic_ns = 77;  // another machine's or container's: only the realtime counts
  LogWriter a(folder.path(), late), b(folder.path(), early);
  a.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  b.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.session && reading.session->process_count() == 2);
  CHECK_EQ(reading.session->facts(0).pid, 5000002u);
  CHECK_EQ(reading.session->start_realtime_ns(), early.start_realtime_ns);
  CHECK_EQ(reading.session->facts(1).start_ns, 7000u);
  CHECK_EQ(reading.events(0)[0].time_ns, 0u);
  CHECK_EQ(reading.events(1)[0].time_ns, 7000u);
}

TEST_MAIN
