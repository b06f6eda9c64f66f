// Plays the logs of a trace into a directory beside a recorder that folds them at random places, and saves what is kept:
//   recorder_tests --fold TRACE TARGET SEED
// TRACE: a saved trace, or a trace directory that is over. Prints "gap" where events are not kept, "whole" where all are (the first
// steps are long). Exit status 1: folded, it answers otherwise.
#include "growing_log.h"
#include "recorded.h"

using namespace gmt;
using namespace gmt::test;

namespace {

/// Of all events, in the order in which they are read.
std::vector<uint64_t> times_of(const std::string &path) {
  std::vector<uint64_t> times;
  auto reader = trace::LogMerger::open(path);
  const auto note = [&](const trace::Batch &batch) {
    for (const trace::Event &event : batch.events) times.push_back(event.time_ns);
  };
  while (reader && reader.value()->poll(note).more) {
  }
  return times;
}

/// Which event of each log is the first that is later than `until_ns`.
std::vector<uint64_t> written_by(const std::string &path, uint64_t until_ns, size_t logs) {
  std::vector<uint64_t> sequences(logs, 1);
  auto reader = trace::LogMerger::open(path, until_ns);
  while (reader && reader.value()->poll([](const trace::Batch &) {}).more) {
  }
  for (size_t i = 0; reader && i < reader.value()->process_count(); ++i)
    sequences[i] = reader.value()->read_position(i).sequence;
  return sequences;
}

void fold_at_random(const std::string &path, const std::string &directory, std::mt19937 &random) {
  std::vector<GrowingLog> logs;
  for (trace::LogFile &log : logs_of(path)) logs.emplace_back(std::move(log), directory);
  const std::vector<uint64_t> times = times_of(path);
  REQUIRE(!logs.empty() && !times.empty());
  std::vector<uint64_t> places(1 + random() % 5);
  for (uint64_t &place : places) place = times[random() % times.size()];
  std::ranges::sort(places);
  std::unique_ptr<recorder::Recorder> recorder;
  const auto read_on = [&] {
    // Mostly another one, which begins at the newest checkpoint.
    if (!recorder || random() % 4) recorder = recorder_of(directory, 1 << 20, 256 << 20);
    while (recorder && recorder->turn()) {
    }
  };
  for (const uint64_t place : places) {
    const std::vector<uint64_t> sequences = written_by(path, place, logs.size());
    for (size_t i = 0; i < logs.size(); ++i) logs[i].grow(sequences[i]);
    read_on();
    recorder->fold();
  }
  for (GrowingLog &log : logs) log.finish();
  read_on();
}

bool begins_with_a_gap(const std::string &directory) {
  const auto reader = trace::LogMerger::open(directory);
  return reader && reader.value()->overtaken();
}

void fold(const std::string &path, const std::string &target, uint32_t seed) {
  std::mt19937 random(seed);
  const TemporaryFolder folder;
  const auto whole = read(path);
  REQUIRE(whole);
  fold_at_random(path, folder.path(), random);
  const auto folded = read(folder.path());
  REQUIRE(folded);
  CHECK(folded->reader->notes() == whole->reader->notes());
  // Sites are numbered as they are met: of several processes, as these were read.
  const auto answers_of = whole->reader->process_count() > 1
                              ? [](session::ModelledTrace &one, const std::string &) { return ledgers(one); }
                              : answers;
  check_same(answers_of(*folded, path), answers_of(*whole, path), "folded");
  const auto problem = session::save(folder.path(), target, whole->reader->session_json(), {});
  if (problem) fail(__FILE__, __LINE__, problem->message);
  std::printf("%s\n", begins_with_a_gap(folder.path()) ? "gap" : "whole");
}

}  // namespace

PROGRAM(fold) {
  if (words.size() != 3) return std::fprintf(stderr, "--fold TRACE TARGET SEED\n"), 2;
  fold(words[0], words[1], static_cast<uint32_t>(std::strtoul(words[2].c_str(), nullptr, 10)));
  return failures() > 0;
}
