// A loop of one line: its rounds are no allocations.
#include "loop_feed.h"

using namespace gmt::test;
using namespace gmt::model;

/// A loop of one line, whose statement makes `made` tensors and keeps the last `kept` of them: its stacks differ by their instructions.
struct LineFeed : LoopFeed {
  static constexpr uint32_t kFirst = 30, kOther = 60;
  LineFeed() {
    for (uint32_t at = 0; at < 16; ++at) names.set(kFirst + at, {{"keep.py", 4, "<module>"}});
    names.set(kOther, {{"keep.py", 6, "<module>"}});
  }
  /// Each instruction allocates `times` tensors, as the one of an operation with a number does.
  void line(uint32_t made, uint32_t keeps, uint32_t times = 1) {
    for (uint32_t at = 0; at < made; ++at) {
      const bool stays = at + keeps >= made;
      for (uint32_t i = 0; i + stays < times; ++i) allocate(0x1000, 8, kFirst + at), free(0x1000);
      if (stays) allocate(0x40000000 + kept++ * 0x1000, 64, kFirst + at);
    }
  }
};

TEST(a_loop_of_one_line_has_a_step_a_round) {
  for (const uint32_t made : {2, 3, 7, 12}) {
    for (const uint32_t keeps : {1u, made}) {
      for (const uint32_t times : {1, 3}) {
        LineFeed feed;
        feed.set_up(20);
        for (int i = 0; i < 100; ++i) feed.line(made, keeps, times);
        CHECK_EQ(feed.anchor_line(), "4");
        CHECK_EQ(feed.count_steps(), 100u);
        CHECK(!feed.steps().sure);  // it may be a table that is set up
      }
    }
  }
}

TEST(a_loop_of_one_line_and_a_line_of_rarer_cases_has_a_step_a_round) {
  LineFeed feed;
  for (int i = 0; i < 100; ++i) {
    feed.line(3, 1, 2);
    if (i % 10 == 0) feed.allocate(0x2000, 8, LineFeed::kOther), feed.free(0x2000);
  }
  CHECK_EQ(feed.anchor_line(), "4");
  CHECK_EQ(feed.count_steps(), 100u);
}

TEST(a_loop_of_two_lines_is_sure_though_one_has_several_stacks) {
  LineFeed feed;
  for (int i = 0; i < 100; ++i) {
    feed.line(2, 1);
    for (int own = 0; own < 4; ++own) feed.allocate(0x2000, 8, LineFeed::kOther), feed.free(0x2000);
  }
  CHECK_EQ(feed.count_steps(), 100u);
  CHECK(feed.steps().sure);
}

TEST(a_line_of_many_operations_is_no_loop) {
  for (const uint32_t times : {1, 3}) {
    for (const int rounds : {1, 2, 4, 8, 20}) {
      LineFeed feed;
      for (int i = 0; i < rounds; ++i) {
        feed.allocate(0x3000, 8, kInput);
        feed.line(8, 0, times);
        feed.allocate(0x2000, 8, LineFeed::kOther), feed.free(0x2000);
        feed.free(0x3000);
      }
      const bool enough = rounds > 10;
      CHECK(feed.steps().source == (enough ? StepSource::Periodic : StepSource::Time));
      CHECK(!enough || feed.count_steps() == static_cast<uint32_t>(rounds));
    }
  }
}

TEST_MAIN
