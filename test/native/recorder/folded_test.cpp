// A trace whose old events were given back answers as one that has all of them: in the long run at every moment of a long trace, else
// at some of a shorter one.
#include <fstream>

#include "recorded.h"
#include "recorder/moments.h"

using namespace gmt;
using namespace gmt::test;

namespace {

/// A trace is so much shorter, and so many moments apart are looked at.
int scale() { return long_run() ? 1 : 6; }

bool has_gap(const std::string &folder) {
  auto reader = trace::LogMerger::open(folder);
  return reader && reader.value()->overtaken();
}

}  // namespace

TEST(folded_at_random_places_it_answers_as_unfolded) {
  for (const uint32_t processes : {1u, 3u}) {
    {
      Twins twins(processes, 1);
      auto whole = opened(twins.other.path());
      auto recorder = recorder_of(twins.one.path(), (1 << 20) / scale(), 64 << 20);
      REQUIRE(recorder);
      for (int part = 0; part < 8; ++part) {
        twins.act(static_cast<int>((2'000 + twins.random()() % 12'000) / scale()));
        while (whole->poll(16384)) {
        }
        while (recorder->turn()) {
        }
        recorder->fold();
        if (part % 4 == 3)
          recorder = recorder_of(twins.one.path(), (1 << 20) / scale(), 64 << 20);  // another one goes on
        REQUIRE(recorder);
      }
      CHECK(has_gap(twins.one.path()));
      auto folded = read(twins.one.path());
      REQUIRE(folded);
      CHECK(folded->reader->notes().empty());
      check_same(answers(*folded, twins.one.path()), answers(*whole, twins.other.path()), "folded");
      // Saved, and opened from its begin, its gap or its end.
      const std::string saved = twins.other / "a.gputrace";
      const auto problem = session::save(twins.one.path(), saved, "{}", {});
      CHECK(!problem);
      for (const uint64_t latest : {kEnd, uint64_t{0}}) {
        auto again = read(saved, kEnd, latest);
        REQUIRE(again);
        CHECK_EQ(again->reader->events(), whole->reader->events());
        CHECK_EQ(again->reader->losses().total(), whole->reader->losses().total());
        CHECK_EQ(again->reader->notes().size(), latest == kEnd ? 0u : 1u);  // from the begin, it says what is gone
      }
    }
  }
}

TEST(a_moment_that_is_kept_is_what_it_was_and_of_others_it_says_so) {
  const int parts = long_run() ? 1 : 2;  // a shorter trace keeps all of its moments
  for (const uint32_t processes : {1u, 3u}) {
    // Sites are numbered as they are met: of several processes, as these were read.
    const auto answers_of = [&](session::ModelledTrace &session, const std::string &logs) {
      return processes == 1 ? answers(session, logs) : ledgers(session);
    };
    Twins twins(processes, 7);
    auto recorder = recorder_of(twins.one.path(), (2 << 20) / parts, 64 << 20);
    REQUIRE(recorder);
    for (int part = 0; part < 40; ++part) {
      twins.act(4'000 / parts);
      while (recorder->turn()) {
      }
    }
    const auto whole = read(twins.other.path());
    const uint64_t end = whole->reader->time_ns();
    const std::string saved = twins.other / "a.gputrace";
    CHECK(!session::save(twins.one.path(), saved, "{}", {}));
    int kept = 0, gone = 0, early = 0;
    for (uint64_t i = 0; i <= 20; i += long_run() ? 1 : 2) {
      const uint64_t until = i < 10 ? end / 100 * i : end / 10 * (i - 10);
      const auto other = read(twins.other.path(), until, until);
      const std::string expected = answers_of(*other, twins.other.path());
      for (const std::string &path : {twins.one.path(), saved}) {
        auto session = session::open(path, until, until);
        if (!session) {
          ++gone;
          CHECK(!session.error().empty());
          continue;
        }
        ++kept;
        early += until < end / 4;
        while (session.value()->poll(16384)) {
        }
        CHECK(!session.value()->reader->live());
        check_same(answers_of(*session.value(), path), expected, path + " at " + std::to_string(until));
      }
    }
    CHECK(kept > 5);
    CHECK(gone > 5);
    CHECK(early > 2);
  }
}

TEST(of_what_is_given_back_steps_marks_and_the_peak_stay) {
  for (const uint32_t processes : {1u, 3u}) {
    Twins twins(processes, 11);
    twins.write_steps();
    auto recorder = recorder_of(twins.one.path(), (2 << 20) / scale(), 64 << 20);
    REQUIRE(recorder);
    uint64_t mark_ns = 0;
    for (int part = 0; part < 40; ++part) {
      twins.act(4'000 / scale());
      if (part == 4) {
        mark_ns = read(twins.other.path())->reader->time_ns();
        std::ofstream(twins.one / "session.json")
            << R"({"marks":[{"name":"\"timeNs\":5","timeNs":)" << mark_ns << "}]}";
      }
      while (recorder->turn()) {
      }
      if (part % 3 == 2) recorder->fold();
      if (part % 10 == 9)
        recorder = recorder_of(twins.one.path(), (2 << 20) / scale(), 64 << 20);  // another one goes on
      REQUIRE(recorder);
    }
    CHECK(has_gap(twins.one.path()));
    const auto whole = read(twins.other.path());
    CHECK_EQ(read(twins.one.path())->reader->events(), whole->reader->events());
    const std::string saved = twins.other / "a.gputrace";
    CHECK(!session::save(twins.one.path(), saved, "{}", {}));
    std::vector<recorder::Moment> moments = recorder::moments_of(whole->model.state(), {}, 0, whole->reader->time_ns());
    CHECK(std::ranges::count(moments, recorder::MomentKind::kStep, &recorder::Moment::kind) > 5);
    CHECK(std::ranges::count(moments, recorder::MomentKind::kPeak, &recorder::Moment::kind) > 0);
    moments.push_back({mark_ns, recorder::MomentKind::kMark});
    int step = 0;
    for (const recorder::Moment &one : moments) {
      if (one.kind == recorder::MomentKind::kStep && step++ % scale() != 0) continue;
      const std::string expected = ledgers(*read(twins.other.path(), one.ns, one.ns));
      for (const std::string &path : {twins.one.path(), saved}) {
        const std::string what = path + " at " + std::to_string(one.ns);
        auto session = session::open(path, one.ns, one.ns);
        if (!session)
          fail(__FILE__, __LINE__, what + ", kind " + std::to_string(int(one.kind)) + ": " + session.error());
        if (!session) continue;
        while (session.value()->poll(16384)) {
        }
        CHECK(!session.value()->reader->live());
        check_same(ledgers(*session.value()), expected, what);
      }
    }
  }
}

TEST_MAIN

TEST(moments_of_one_fold_take_no_more_than_their_part_of_the_budget) {
  constexpr uint64_t kBudget = 8 << 20;
  Twins twins(1, 13);
  twins.write_steps();
  twins.act(12'000);
  const uint64_t end = read(twins.other.path())->reader->time_ns();
  std::ofstream session(twins.one / "session.json");
  session << R"({"marks":[)";
  for (uint64_t mark = 1; mark <= 60; ++mark)
    session << (mark > 1 ? "," : "") << R"({"name":"m","timeNs":)" << end / 100 * mark << '}';
  session << "]}" << std::flush;
  auto recorder = recorder_of(twins.one.path(), 64 << 10, kBudget);
  REQUIRE(recorder);
  while (recorder->turn()) {
  }
  recorder->fold();
  twins.act(12'000);
  while (recorder->turn()) {
  }
  recorder->fold();
  uint64_t sum = 0, most = 0, count = 0;
  for (const session::CheckpointFile &one : session::stored_checkpoints(twins.one.path())) {
    if (one.kind != "step" && one.kind != "mark" && one.kind != "peak") continue;
    const uint64_t bytes = session::disk_bytes(one.path);
    sum += bytes;
    most = std::max(most, bytes);
    ++count;
  }
  CHECK(count > 3);
  CHECK(sum <= kBudget / 8 + most);
}
