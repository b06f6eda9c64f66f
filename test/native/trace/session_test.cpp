// Sessions: directories and saved files as they are found, losses, what cannot be opened.
#include <sys/wait.h>

#include <fstream>

#include "check.h"
#include "log_writer.h"
#include "trace/log_merger.h"
#include "trace/process_runs.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

namespace {
bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
void write_file(const std::string &path, const std::string &text) { std::ofstream(path) << text; }
}  // namespace

TEST(a_directory_without_logs_waits) {
  TemporaryFolder folder;
  Reading reading = read_all(folder.path());
  REQUIRE(reading.session);
  CHECK(reading.session->live());
  CHECK_EQ(reading.session->process_count(), 0u);
  CHECK_EQ(reading.session->session_json(), "");
}

TEST(a_session_that_is_over_without_a_log_is_said_so) {
  TemporaryFolder folder;
  write_file(folder / "session.json", R"({"command":["true"],"processes":[{"pid":12,"exitCode":null}]})");
  CHECK(read_all(folder.path()).session != nullptr);
  write_file(folder / "session.json", R"({"command":["true"],"processes":[{"pid":12,"exitCode": 0}]})");
  CHECK(has(read_all(folder.path()).error, "no process of this session used the GPU"));
}

TEST(what_is_no_trace_is_said_so) {
  TemporaryFolder folder;
  write_file(folder / "other.txt", "hello, this is no trace at all, and long enough to be one");
  CHECK(has(read_all(folder.path()).error, "is not a trace directory"));
  CHECK(has(read_all(folder / "other.txt").error, "is not a GPU Memory Trace file"));
  CHECK(has(read_all(folder / "absent").error, "Cannot open"));
  write_file(folder / "empty", "");
  CHECK(has(read_all(folder / "empty").error, "is not a GPU Memory Trace file"));
  CHECK(has(read_all("/dev/null").error, "not a regular file"));
}

TEST(a_log_of_a_newer_version_is_named_and_others_are_read) {
  TemporaryFolder folder;
  LogOptions other;
  other.pid = 5000002;
  LogWriter newer(folder.path());
  newer.header().version = 99;
  CHECK(has(read_all(folder.path()).error, "update GPU Memory Trace"));
  LogWriter good(folder.path(), other);
  good.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.session);
  CHECK_EQ(reading.session->process_count(), 1u);
  CHECK_EQ(reading.session->notes().size(), 1u);
}

TEST(losses_of_the_header_and_of_the_reader_add_up) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  log.add_torn_event();
  log.add_loss(GMT_LOST_BUDGET, 10);
  log.add_loss(GMT_LOST_REENTRANT, 3);
  Reading reading = read_all(folder.path());
  trace::Losses losses = reading.session->losses();
  CHECK_EQ(losses.count[GMT_LOST_BUDGET], 10u);
  CHECK_EQ(losses.count[GMT_LOST_REENTRANT], 3u);
  CHECK_EQ(losses.count[trace::kLostTorn], 1u);
  CHECK_EQ(losses.total(), 14u);
  CHECK_EQ(losses.events(), 14u);
  losses.count[GMT_LOST_STACK] = losses.count[GMT_LOST_NAME] = losses.count[GMT_LOST_STACK_TABLE] = 2;
  CHECK_EQ(losses.total(), 20u);
  CHECK_EQ(losses.events(), 14u);
  CHECK_EQ(trace::loss_name(trace::kLostCutShort), "cut short");
  CHECK_EQ(trace::loss_name(GMT_LOST_DISK_FULL), "disk full");
}

TEST(logs_that_come_later_are_found) {
  TemporaryFolder folder;
  Reading reading = read_all(folder.path());
  REQUIRE(reading.session);
  LogWriter log(folder.path(), LogOptions::alive());
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  usleep(150'000);
  reading.poll();
  CHECK_EQ(reading.events().size(), 1u);
  CHECK(reading.session->live());
  CHECK(!reading.session->ended(0));
  log.add_event(0, GMT_TENSOR_FREE, 1, 512);
  log.end();
  reading.poll();
  CHECK_EQ(reading.events().size(), 2u);
  CHECK(reading.session->ended(0));
  CHECK(!reading.session->live());
}

TEST(a_driver_that_is_known_later_than_its_log_is_told) {
  TemporaryFolder folder;
  LogOptions options = LogOptions::alive();
  options.driver_source = GMT_DRIVER_NONE;
  options.simulated = 0;
  LogWriter log(folder.path(), options);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.session);
  CHECK(!reading.session->facts(0).simulated);
  log.header().driver_source = GMT_DRIVER_CUPTI;
  log.header().simulated = 1;
  reading.poll();
  CHECK(reading.session->facts(0).simulated);
  CHECK_EQ(reading.session->facts(0).driver_source, uint32_t{GMT_DRIVER_CUPTI});
}

TEST(a_killed_process_is_seen_and_read_to_its_end) {
  TemporaryFolder folder;
  pid_t child = fork();
  if (child == 0) {
    LogWriter log(folder.path(), LogOptions::alive());
    for (int i = 0; i < 1000; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
    log.add_torn_event();
    for (;;) pause();
  }
  Reading reading = read_all(folder.path());
  while (reading.events().size() < 1000 && waitpid(child, nullptr, WNOHANG) == 0) {
    usleep(1'000);
    reading.poll();
  }
  CHECK_EQ(reading.events().size(), 1000u);
  CHECK(reading.session->live());
  CHECK_EQ(reading.session->losses().total(), 0u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  usleep(150'000);
  reading.poll();
  CHECK(!reading.session->live());
  CHECK(reading.session->ended(0));
  CHECK_EQ(reading.session->losses().count[trace::kLostTorn], 1u);
}

TEST(processes_are_told_apart_by_their_start) {
  CHECK(trace::process_runs(static_cast<uint32_t>(getpid()), own_process_start()));
  CHECK(!trace::process_runs(static_cast<uint32_t>(getpid()), own_process_start() + 1));
  CHECK(!trace::process_runs(5000001, 1));
}

TEST(processes_take_turns_by_time) {
  TemporaryFolder folder;
  LogOptions first, second;
  second.pid = 5000002;
  LogWriter a(folder.path(), first), b(folder.path(), second);
  for (int i = 0; i < 50000; ++i) {
    a.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
    b.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  }
  Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 14);
  uint64_t reached[2] = {};
  for (const StoredBatch &batch : reading.batches) {
    reached[batch.process] = batch.events.back().time_ns;
    CHECK(batch.events.front().time_ns <= reached[1 - batch.process] + 8192 * 1000);
  }
}

TEST(a_limit_is_kept_and_reading_goes_on) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (int i = 0; i < 50000; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  auto session = std::move(trace::LogMerger::open(folder.path()).value());
  uint64_t seen = 0;
  auto sink = [&](const trace::Batch &batch) { seen += batch.events.size(); };
  trace::PollResult result = session->poll(sink, 10000);
  CHECK_EQ(result.events, 16384u);
  CHECK(result.more);
  CHECK(session->live());
  CHECK(!session->poll(sink).more);
  CHECK_EQ(seen, 50000u);
  CHECK_EQ(session->events(), 50000u);
  CHECK(!session->live());
}

TEST_MAIN
