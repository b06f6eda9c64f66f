// Whoever is killed, at any instant: the next one goes on.
#include <signal.h>
#include <sys/wait.h>

#include "recorded.h"

using namespace gmt;
using namespace gmt::test;

namespace {

using Lock = session::DirectoryLock;

[[noreturn]] void record(const std::string &directory) {
  auto recorder = recorder_of(directory, 1 << 20, 16 << 20);
  while (recorder) {
    while (recorder->turn()) {
    }
    recorder->fold();
  }
  ::_exit(1);
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace

TEST(a_recorder_that_is_killed_at_any_instant_leaves_all_to_the_next) {
  std::mt19937 random(4);
  Twins twins(1, 4);
  const int rounds = long_run() ? 40 : 16;
  for (int round = 0; round < rounds; ++round) {
    const bool settles = round % 8 == 7;
    const auto newest = [&] {
      const auto kept = session::stored_checkpoints(twins.one.path());
      return kept.empty() ? std::string() : kept.back().path;
    };
    const std::string before = newest();
    twins.act(3'000);
    const pid_t child = ::fork();
    if (child == 0) record(twins.one.path());
    while (settles && newest() == before && ::waitpid(child, nullptr, WNOHANG) == 0) ::usleep(1'000);
    ::usleep(random() % 30'000);
    end(child);
    if (settles) CHECK_EQ(read(twins.one.path())->reader->events(), read(twins.other.path())->reader->events());
  }
  CHECK(opened(twins.one.path())->reader->events() > 1'250u * static_cast<unsigned>(rounds));
  check_same(answers(*read(twins.one.path()), twins.one.path()), answers(*read(twins.other.path()), twins.other.path()),
             "after all kills");
}

TEST(two_recorders_never_have_one_directory) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const Lock lock(folder.path(), Lock::kRecorder, Lock::Way::kWhenFree);
    ::raise(SIGSTOP);
    ::_exit(lock.held());
  }
  ::waitpid(child, nullptr, WUNTRACED);
  CHECK(!Lock(folder.path(), Lock::kRecorder, Lock::Way::kWhenFree).held());
  end(child);
  const Lock lock(folder.path(), Lock::kRecorder, Lock::Way::kWhenFree);
  CHECK(lock.held());
  CHECK(!Lock(folder.path(), Lock::kRecorder, Lock::Way::kWhenFree).held());
}

TEST(a_job_that_is_killed_is_read_to_its_last_word) {
  for (int round = 0; round < 5; ++round) {
    const TemporaryFolder folder;
    int begun[2];
    REQUIRE(::pipe(begun) == 0);
    const pid_t job = ::fork();
    if (job == 0) {
      LogWriter log(folder.path(), LogOptions::alive());
      ::close(begun[1]);
      // A log that knows no limit would fill the disk, and keep a recorder busy for ever that gets little of the processor.
      for (uint64_t i = 0; i < 100'000; ++i) {
        log.add_event(static_cast<uint16_t>(i % 2), GMT_TENSOR_ALLOC, i * 512, 512);
        if (i % 500 == 0) ::usleep(1'000);
      }
      for (;;) ::pause();
    }
    ::close(begun[1]);
    char none;
    CHECK_EQ(::read(begun[0], &none, 1), 0);  // the job has its log: on a busy machine it would be killed before
    ::close(begun[0]);
    auto recorder = recorder_of(folder.path(), 1 << 20, 16 << 20);
    REQUIRE(recorder);
    for (int i = 0; i < 20; ++i) {
      recorder->turn();
      recorder->fold();
      ::usleep(2'000);
    }
    end(job);
    while (recorder->turn()) {
    }
    const auto rest = read(folder.path());
    CHECK(rest->reader->losses().total() <= 1);  // it was writing one
    CHECK(!rest->reader->live());
    CHECK_EQ(static_cast<uint64_t>(rest->model.state().accounts.ledgers().front().live_bytes),
             rest->reader->events() * 512);
  }
}

TEST(what_is_given_back_before_the_first_steps_were_over_is_not_said_to_be_kept) {
  const TemporaryFolder folder;
  LogWriter log(folder.path());
  auto recorder = recorder_of(folder.path(), 8 << 20, 64 << 20);
  const auto write = [&] { write_pairs(log, 50'000); };
  write();
  recorder->turn();
  recorder->fold();
  CHECK(log.header().gone_sequence > 0);
  for (int i = 0; i < 3; ++i) write(), recorder->turn();
  CHECK(log.header().kept_sequence <= 1);
  CHECK(!session::open(folder.path(), 1000, 1000));
  CHECK_EQ(read(folder.path())->reader->events(), 400'000u);
}

TEST(a_begin_that_fills_the_budget_is_not_kept) {
  const TemporaryFolder folder;
  LogWriter log(folder.path());
  auto recorder = recorder_of(folder.path(), 1 << 20, 8 << 20);
  const auto write = [&] {
    write_pairs(log, 75'000);
    log.at(log.now_ns() + 5'000'000'000);
  };
  for (int i = 0; i < 4; ++i) write(), recorder->turn(), recorder->fold();
  CHECK(log.header().chunk_limit > log.chunks() + 8);
  CHECK_EQ(read(folder.path())->reader->events(), 600'000u);
}

TEST(a_job_that_waits_for_room_gets_some) {
  const TemporaryFolder folder;
  LogWriter log(folder.path());
  const uint64_t chunks = 27;  // all of them full, and no chunk comes that would make them old
  write_pairs(log, chunks * GMT_SLOTS_PER_CHUNK / 2);
  CHECK_EQ(log.chunks(), chunks);
  auto recorder = recorder_of(folder.path(), 256 << 10, 8 << 20);
  for (int i = 0; i < 3; ++i) recorder->turn();
  CHECK(log.header().chunk_limit > chunks + 8);
}

TEST(what_is_taken_stays_within_the_budget_where_nothing_can_be_folded) {
  const TemporaryFolder folder;
  LogWriter log(folder.path());
  auto recorder = recorder_of(folder.path(), 1 << 20, 8 << 20);
  write_pairs(log, 50'000);
  recorder->turn();
  const uint64_t free = (8u << 20) / GMT_CHUNK_BYTES - log.chunks();
  CHECK(log.header().chunk_limit > log.chunks());
  CHECK(log.header().chunk_limit < log.chunks() + free);
  write_pairs(log, 100'000);
  // A saver holds all of it: no chunk may come, and some may once it is done.
  {
    const Lock saver(folder.path(), Lock::kSaver, Lock::Way::kTogether);
    REQUIRE(saver.held());
    while (recorder->turn()) {
    }
    CHECK_EQ(log.header().gone_sequence, 0u);
    CHECK(log.header().chunk_limit < log.chunks() + 2);
  }
  recorder->fold();
  CHECK(log.header().gone_sequence > 0);
  CHECK(log.header().chunk_limit > log.chunks() + 8);
}

TEST_MAIN
