// A saved trace that is opened from a checkpoint answers as one that is read from its begin.
#include <fstream>

#include "check.h"
#include "random_session.h"
#include "session/modelled_trace.h"
#include "session/trace_checkpoint.h"
#include "trace/saved/save.h"

using namespace gmt;
using namespace gmt::test;

namespace {

constexpr uint64_t kEnd = trace::LogMerger::kToTheEnd;

/// Of a random trace.
int actions() { return long_run() ? 60'000 : 36'000; }

std::string saved(const std::string &source, const std::string &target, uint64_t events_apart) {
  const auto status =
      trace::save(source, target, "{}", {}, [&](trace::TraceWriter &writer, const auto &) -> trace::Status {
        session::add_checkpoints(writer, events_apart);
        return std::nullopt;
      });
  CHECK(!status);
  return target;
}

/// What a session answers up to `until_ns`, from the newest checkpoint that is not later than `latest_ns`.
struct Answers {
  Answers(const std::string &path, uint64_t until_ns, uint64_t latest_ns) {
    auto opened = std::move(session::open(path, until_ns, latest_ns).value());
    trace::LogMerger &reader = *opened->reader;
    QueriedModel model(opened->names);
    skipped = reader.events();
    while (opened->poll(16384)) {
    }
    auto bytes = session::checkpoint(reader, opened->model);
    auto again = std::move(trace::LogMerger::open(path, until_ns).value());
    CHECK(session::resume(bytes, *again, model));
    text = describe(model);
    for (size_t i = 0; i < reader.process_count(); ++i) {
      std::ostringstream of;
      of << reader.facts(i).pid << ' ' << reader.events() << ' ' << reader.losses(i).total() << ' ' << reader.ended(i)
         << reader.live() << ' ' << reader.tables(i).threads().size() << ' ' << reader.tables(i).stack_count();
      text += of.str();
    }
    notes = reader.notes();
  }
  uint64_t skipped = 0;  ///< events that were in the checkpoint
  std::string text;
  std::vector<std::string> notes;
};

std::string random_trace(const TemporaryFolder &folder, uint32_t seed, uint32_t processes) {
  std::mt19937 random(seed);
  std::filesystem::create_directory(folder / "live");
  std::vector<Program> programs;
  for (uint32_t i = 0; i < processes; ++i) programs.push_back(start(folder / "live", i));
  for (int i = 0; i < actions(); ++i) act(programs[random() % programs.size()], random);
  return saved(folder / "live", folder / "a.gputrace", static_cast<uint64_t>(actions() / 20));
}

std::vector<trace::CheckpointLocation> checkpoints_of(const std::string &path) {
  return trace::read_container(path).value().checkpoints;
}

/// Writes over the first bytes of a checkpoint's frame.
void damage(const std::string &path, const trace::CheckpointLocation &place) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place.offset + place.header.bytes / 2)).write("damaged!", 8);
}

/// All allocations that a session tells to have ended at `from_ns` or later.
std::string lifetimes(const std::string &path, uint64_t from_ns, uint64_t latest_ns) {
  auto opened = std::move(session::open(path, kEnd, latest_ns).value());
  model::LifetimeLog log(from_ns);
  opened->model.log_lifetimes(&log);
  while (opened->poll(16384)) {
  }
  opened->model.finish_lifetimes();
  std::ostringstream out;
  for (const model::Lifetime &one : log.ready()) {
    out << one.address << ' ' << one.bytes << ' ' << one.begin_ns << ' ' << one.end_ns << ' ' << one.cell << ' '
        << one.step << ' ' << one.free_thread << ' ' << int{one.category} << '\n';
  }
  return out.str();
}

}  // namespace

TEST(a_saved_trace_and_each_moment_of_it_answer_from_a_checkpoint_as_from_the_begin) {
  for (const uint32_t processes : {1u, 3u}) {
    const TemporaryFolder folder;
    const std::string path = random_trace(folder, processes, processes);
    const auto places = checkpoints_of(path);
    CHECK(places.size() >= 4);
    const Answers end(path, kEnd, kEnd), read(path, kEnd, 0);
    CHECK(end.text == read.text);
    CHECK_EQ(read.skipped, 0u);
    CHECK(end.skipped > 5u * actions() / 6);
    std::mt19937 random(3);
    for (int i = 0; i < 12; ++i) {
      const uint64_t until = random() % (places.back().header.time_ns + 1'000'000);
      CHECK(Answers(path, until, until).text == Answers(path, until, 0).text);
    }
    const uint64_t middle = places[places.size() / 2].header.time_ns + 1;
    CHECK(Answers(path, middle, middle).skipped > 0);
  }
}

TEST(lifetimes_from_a_time_on_are_those_that_a_whole_reading_tells) {
  const TemporaryFolder folder;
  const std::string path = random_trace(folder, 7, 2);
  for (const trace::CheckpointLocation &place : checkpoints_of(path)) {
    const uint64_t from = place.header.time_ns + 1;
    CHECK(lifetimes(path, from, from - 1) == lifetimes(path, from, 0));
  }
}

TEST(a_damaged_checkpoint_is_told_and_an_older_one_serves) {
  const TemporaryFolder folder;
  const std::string path = random_trace(folder, 4, 1);
  const Answers whole(path, kEnd, kEnd);
  CHECK(whole.notes.empty());
  const auto places = checkpoints_of(path);
  uint64_t skipped = whole.skipped;
  for (size_t at = places.size(); at-- > 0;) {
    damage(path, places[at]);
    const Answers rest(path, kEnd, kEnd);
    CHECK(rest.text == whole.text);
    CHECK(rest.skipped < skipped);
    skipped = rest.skipped;
    REQUIRE(rest.notes.size() == 1);
  }
  CHECK_EQ(skipped, 0u);
}

TEST(a_checkpoint_of_another_version_is_left_alone) {
  const TemporaryFolder folder;
  const std::string path = random_trace(folder, 4, 1);
  for (const trace::CheckpointLocation &place : checkpoints_of(path)) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const uint64_t other = session::kCheckpointVersion + 1;
    file.seekp(static_cast<std::streamoff>(place.offset - sizeof other));
    file.write(reinterpret_cast<const char *>(&other), sizeof other);
  }
  const Answers read(path, kEnd, kEnd);
  CHECK_EQ(read.skipped, 0u);
  CHECK(read.notes.empty());
}

TEST(old_traces_saved_anew_answer_as_before) {
  int traces = 0;
  for (const auto &entry : std::filesystem::directory_iterator(given("GMT_TEST_GOLDEN"))) {
    if (entry.path().extension() != ".gputrace") continue;
    ++traces;
    const TemporaryFolder folder;
    const std::string path = saved(entry.path().string(), folder / "new.gputrace", 1);
    const auto places = checkpoints_of(path);
    CHECK(!places.empty());
    const Answers old(entry.path().string(), kEnd, kEnd);
    CHECK(Answers(path, kEnd, kEnd).text == old.text);
    CHECK(Answers(path, kEnd, places.front().header.time_ns).text == old.text);
  }
  CHECK(traces > 0);
}

TEST_MAIN
