// A session that goes on from a checkpoint, taken anywhere, is the session that was read from its begin.
#include "check.h"
#include "random_session.h"
#include "session/trace_checkpoint.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

namespace {

using Bytes = std::vector<std::byte>;

/// A reader and its model.
struct Half {
  explicit Half(const std::string &path, uint64_t until_ns = trace::LogMerger::kToTheEnd)
      : reader(std::move(trace::LogMerger::open(path, until_ns).value())), names(*reader), model(names) {}
  bool poll(uint64_t events) {
    return reader->poll([&](const trace::Batch &batch) { model.ingest(batch); }, events).more;
  }
  void read_all() {
    while (poll(16384)) {
    }
  }
  Bytes bytes() { return session::checkpoint(*reader, model); }
  std::unique_ptr<trace::LogMerger> reader;
  session::TraceNames names;
  QueriedModel model;
};

void write(const std::string &folder, uint32_t seed, uint32_t processes, int actions) {
  std::mt19937 random(seed);
  std::vector<Program> programs;
  for (uint32_t i = 0; i < processes; ++i) programs.push_back(start(folder, i));
  for (int i = 0; i < actions; ++i) act(programs[random() % programs.size()], random);
}

/// All states of a session along its way.
std::vector<Bytes> checkpoints_of(const std::string &path, std::mt19937 &random) {
  std::vector<Bytes> all;
  Half whole(path);
  do all.push_back(whole.bytes());
  while (whole.poll(1 + random() % 8000));
  return all;
}

}  // namespace

TEST(a_session_goes_on_from_any_place_as_if_it_had_read_all) {
  for (const uint32_t processes : {1u, 3u}) {
    if (processes == 1 && !long_run()) continue;
    std::mt19937 random(processes);
    const TemporaryFolder folder;
    write(folder.path(), processes, processes, 60'000);
    Half whole(folder.path());
    whole.read_all();
    const Bytes end = whole.bytes();
    const std::string answers = describe(whole.model);
    CHECK(answers.size() > 100'000);
    const std::vector<Bytes> all = checkpoints_of(folder.path(), random);
    CHECK(all.size() > 5);
    for (const Bytes &kept : all) {
      Half again(folder.path());
      REQUIRE(session::resume(kept, *again.reader, again.model));
      CHECK(again.bytes() == kept);
      again.read_all();
      CHECK(again.bytes() == end);
      CHECK(describe(again.model) == answers);
      CHECK_EQ(again.reader->events(), whole.reader->events());
      CHECK_EQ(again.reader->losses().total(), whole.reader->losses().total());
      CHECK(!again.reader->live());
    }
  }
}

TEST(a_moment_is_reached_from_any_checkpoint_before_it) {
  std::mt19937 random(5);
  const TemporaryFolder folder;
  const int parts = long_run() ? 1 : 2;  // a shorter trace has as many moments
  write(folder.path(), 5, 3, 60'000 / parts);
  Half whole(folder.path());
  uint64_t sure_ns = 0;
  for (bool more = true; more;) {
    const Bytes kept = whole.bytes();
    sure_ns = whole.reader->time_ns();
    more = whole.poll(1 + random() % (12'000 / parts));
    const uint64_t until = sure_ns + random() % 40'000'000;
    Half from_begin(folder.path(), until), again(folder.path(), until);
    from_begin.read_all();
    REQUIRE(session::resume(kept, *again.reader, again.model));
    again.read_all();
    CHECK(describe(again.model) == describe(from_begin.model));
    CHECK_EQ(again.reader->events(), from_begin.reader->events());
    CHECK(!again.reader->live());
  }
}

TEST(what_a_log_got_since_is_read_from_the_checkpoint_on) {
  const TemporaryFolder folder;
  std::mt19937 random(9);
  std::vector<Program> programs;
  programs.push_back(start(folder.path(), 0));
  for (int i = 0; i < 20'000; ++i) act(programs[0], random);
  Half early(folder.path());
  early.read_all();
  const Bytes kept = early.bytes();
  programs.push_back(start(folder.path(), 1));  // a process that begins after the checkpoint
  for (int i = 0; i < 20'000; ++i) act(programs[random() % 2], random);
  Half again(folder.path());
  REQUIRE(session::resume(kept, *again.reader, again.model));
  again.read_all();
  early.poll(0);
  CHECK_EQ(again.reader->process_count(), 2u);
  CHECK_EQ(again.reader->events(),
           programs[0].log->next_sequence() + programs[1].log->next_sequence() - 2 - again.reader->losses().total());
}

// Its bytes have a checksum where they are kept; what passes that may still be made by hand.
TEST(a_checkpoint_with_other_numbers_is_refused_or_harmless) {
  const TemporaryFolder folder;
  write(folder.path(), 3, 2, 5'000);
  Half whole(folder.path());
  whole.read_all();
  const Bytes good = whole.bytes();
  std::mt19937 random(1);
  size_t refused = 0;
  for (int round = 0; round < (long_run() ? 300 : 100); ++round) {
    Bytes bad = good;
    const bool cut = round % 3 == 0;
    if (cut) bad.resize(random() % bad.size());
    for (uint32_t i = 0; !cut && i <= random() % 4; ++i)
      bad[random() % bad.size()] ^= static_cast<std::byte>(1 + random() % 255);
    Half half(folder.path());
    const bool taken = session::resume(bad, *half.reader, half.model);
    CHECK(!taken || !cut);
    refused += !taken;
    if (!taken) continue;
    half.read_all();
    describe(half.model);
  }
  CHECK(refused > (long_run() ? 100u : 33u));
  Half other(folder.path());
  CHECK(session::resume(good, *other.reader, other.model));
}

TEST(a_checkpoint_of_other_logs_is_refused) {
  const TemporaryFolder one, other;
  write(one.path(), 3, 2, 1'000);
  write(other.path(), 3, 1, 1'000);
  Half half(one.path());
  half.read_all();
  Half wrong(other.path());
  CHECK(!session::resume(half.bytes(), *wrong.reader, wrong.model));
}

TEST_MAIN
