// Steps of programs that tell nothing of them: the loop is found by the model.
#include <random>

#include "loop_feed.h"

using namespace gmt::test;
using namespace gmt::model;

namespace {

void evaluate(LoopFeed &feed) {
  for (const uint32_t site : {kForward + 5, kForward + 6}) feed.allocate(0x1000, 100, site), feed.free(0x1000);
}

}  // namespace

TEST(a_loop_is_found_and_its_rounds_were_steps_from_the_first_on) {
  LoopFeed feed;
  feed.set_up(100);
  for (int i = 0; i < 25; ++i) feed.round();
  const SiteSeries series = feed.series();
  CHECK(series.axis.source == StepSource::Periodic);
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  CHECK_EQ(series.axis.count, 24u);  // that the next one ended
  for (size_t i = 0; i < series.axis.count; ++i) CHECK_EQ(series.axis.marks[i].end_ns, feed.began[i + 1] - 1);
  const size_t leak = feed.row_of_line(series, kLeak);
  REQUIRE(leak < series.rows.size());
  const Numbers live = row_of(series, SeriesColumn::LiveBytes, leak),
                born = row_of(series, SeriesColumn::SurvivorBytes, leak);
  for (size_t i = 0; i < live.size(); ++i) {
    CHECK_EQ(live[i], 64.0 * static_cast<double>(i + 1));
    CHECK_EQ(born[i], 64.0);
  }
  const size_t setup = feed.row_of_line(series, kSetup);
  CHECK_EQ(row_of(series, SeriesColumn::LiveBytes, setup)[0], 51200.0);
  CHECK_EQ(row_of(series, SeriesColumn::Allocations, setup)[0], 100.0);
  const Numbers tensor = column_of(feed.ledger(), LedgerColumn::Tensor),
                most = column_of(feed.ledger(), LedgerColumn::TensorMax);
  CHECK_EQ(tensor[10], 51200 + 64.0 * 11);
  CHECK_EQ(most[10], 51200 + 64.0 * 11 + 304);
}

TEST(a_loop_that_is_a_part_of_each_step_gives_way_to_the_steps) {
  for (const size_t parameters : {12, 98, 400}) {
    LoopFeed feed;
    feed.set_up(100);
    for (int i = 0; i < 40; ++i) feed.training_step(parameters);
    CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
    CHECK_EQ(feed.count_steps(), 40u);
  }
}

TEST(a_loop_with_many_allocations_a_round_is_found_by_its_newest_rounds) {
  LoopFeed feed;
  for (int i = 0; i < 25; ++i) feed.round(64, 15'600);
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  const SiteSeries series = feed.series();
  REQUIRE(series.axis.count >= 15);
  const size_t leak = feed.row_of_line(series, kLeak);
  REQUIRE(leak < series.rows.size());
  const Numbers live = row_of(series, SeriesColumn::LiveBytes, leak),
                born = row_of(series, SeriesColumn::SurvivorBytes, leak);
  CHECK_EQ(live.back(), 64.0 * 24);  // the one of the last round, which goes on, is not among them
  for (size_t i = 1; i < live.size(); ++i) {
    CHECK_EQ(live[i] - live[i - 1], 64.0);
    CHECK_EQ(born[i], 64.0);
  }
}

TEST(epochs_are_no_steps) {
  LoopFeed feed;
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (int i = 0; i < 100; ++i) feed.round();
    for (int i = 0; i < 20; ++i) evaluate(feed);
  }
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  CHECK_EQ(feed.series().axis.count > 2900u, true);
}

TEST(a_loop_is_named_within_eighteen_rounds) {
  for (const uint64_t blocks : {0, 30, 500, 900}) {
    LoopFeed feed;
    feed.set_up(blocks);
    int rounds = 0;
    const auto found = [&] {
      return feed.steps().source == StepSource::Periodic && feed.anchor_line() == std::to_string(kInput);
    };
    feed.round();
    for (++rounds; rounds < 200 && !found(); ++rounds) feed.round();
    CHECK(rounds >= 10 && rounds <= 18);
    CHECK_EQ(feed.steps().marks.points().size(), static_cast<size_t>(rounds - 1));
  }
}

TEST(a_few_layers_in_a_round_are_no_rounds_of_their_own) {
  for (const size_t layers : {3, 6, 12}) {
    LoopFeed feed;
    for (int i = 0; i < 40; ++i) feed.round(64, layers);
    CHECK(feed.steps().source == StepSource::Periodic);
    CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
    CHECK_EQ(feed.count_steps(), 40u);
  }
}

TEST(workers_of_a_pool_go_through_one_loop_each_at_its_own_pace) {
  LoopFeed feed;
  std::mt19937 random{7};
  const uint32_t lines[] = {kInput, kForward, kLoss, kLayer};
  uint64_t at[2] = {0, 0}, rounds = 0;
  while (rounds < 60) {
    const uint16_t worker = random() % 3 == 0 ? 1 : 0;
    const uint64_t place = at[worker]++ % 4;
    const uint64_t address = 0x1000 + 0x10000 * worker + 0x1000 * place;
    feed.put({GMT_TENSOR_ALLOC, address, 100, 0, static_cast<uint16_t>(worker + 3), lines[place]});
    feed.free(address);
    if (place == 3) ++rounds;
  }
  CHECK(feed.steps().source == StepSource::Periodic);
  CHECK(feed.series().axis.count >= rounds - 2 && feed.series().axis.count <= rounds + 2);
}

TEST(what_other_threads_do_is_no_part_of_the_rounds) {
  LoopFeed feed;
  std::mt19937_64 random(3);
  for (int i = 0; i < 40; ++i) {
    for (uint64_t noise = random() % 12; noise > 0; --noise) {
      feed.put({GMT_TENSOR_ALLOC, 0x90000000 + random() % 8 * 0x1000, 64, 0, 5, 12});
    }
    feed.round();
  }
  CHECK(feed.steps().source == StepSource::Periodic);
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  CHECK_EQ(feed.count_steps(), 40u);
}

TEST(what_the_framework_takes_from_the_driver_is_no_round) {
  LoopFeed feed;
  for (uint64_t i = 0; i < 60; ++i) {
    feed.round();
    if (i % 3 == 0) feed.put({GMT_DEVICE_ALLOC, 0x900000000 + i * 0x200000, 0x200000, 0, 0, 13});
  }
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  CHECK_EQ(feed.count_steps(), 60u);
  LoopFeed alone;  // without a framework, the driver's allocations are all there is
  for (uint64_t i = 0; i < 30; ++i) alone.put({GMT_DEVICE_ALLOC, 0x900000000 + i * 0x200000, 0x200000, 0, 0, 13});
  CHECK_EQ(alone.anchor_line(), "13");
}

/// A server: a line of `main` makes a request's input, a function that it calls goes over tokens, and finds some in a cache.
struct ServerFeed : LoopFeed {
  static constexpr uint32_t kRequest = 11, kToken = 12, kHead = 13, kMiss = 14, kBackward = 15;
  std::mt19937 random{5};
  ServerFeed() {
    names.set(kRequest, {{"serve.py", 50, "main"}});
    names.set(kToken, {{"serve.py", 20, "decode"}, {"serve.py", 52, "main"}});
    names.set(kHead, {{"serve.py", 21, "decode"}, {"serve.py", 52, "main"}});
    names.set(kMiss, {{"serve.py", 5, "look_up"}, {"serve.py", 51, "main"}});
    names.set(kBackward,
              {{"torch/autograd/__init__.py", 9, "backward"}, {"serve.py", 23, "decode"}, {"serve.py", 52, "main"}});
  }
  void touch(uint32_t stack, uint64_t times = 1) {
    for (; times > 0; --times) allocate(0x1000, 100, stack), free(0x1000);
  }
  /// With up to `most` tokens.
  void request(uint32_t most, bool trains = false) {
    touch(kRequest);
    if (random() % 5 == 0) touch(kMiss, 1 + random() % 9);
    for (uint32_t tokens = random() % (most + 1); tokens > 0; --tokens) {
      touch(kToken);
      touch(kHead);
      if (trains) touch(kBackward);
    }
  }
};

TEST(requests_of_any_length_are_steps_and_their_tokens_are_not) {
  ServerFeed feed;
  for (int i = 0; i < 120; ++i) feed.request(30);
  CHECK_EQ(feed.anchor_line(), "50");
  CHECK_EQ(feed.count_steps(), 120u);
}

TEST(the_outer_loop_takes_over_where_the_inner_one_was_found_first) {
  ServerFeed feed;
  feed.touch(ServerFeed::kRequest);
  for (int i = 0; i < 40; ++i) feed.touch(ServerFeed::kToken), feed.touch(ServerFeed::kHead);
  CHECK_EQ(feed.anchor_line(), "20");
  for (int i = 0; i < 40; ++i) feed.request(30);
  CHECK_EQ(feed.anchor_line(), "50");
  CHECK_EQ(feed.count_steps(), 41u);
}

TEST(where_there_are_backward_passes_the_innermost_loop_with_one_is_the_step) {
  ServerFeed feed;
  feed.request(30);
  uint32_t tokens = 0;
  for (; tokens < 400; ++tokens) {
    if (tokens % 25 == 0) feed.touch(ServerFeed::kRequest);
    feed.touch(ServerFeed::kToken);
    feed.touch(ServerFeed::kHead);
    feed.touch(ServerFeed::kBackward);
  }
  CHECK_EQ(feed.anchor_line(), "20");
}

TEST(rounds_without_a_backward_pass_may_be_parts_of_a_step_where_there_are_passes) {
  for (const bool trains : {false, true}) {
    ServerFeed feed;
    if (trains) feed.touch(ServerFeed::kBackward);
    for (int i = 0; i < 40; ++i) feed.request(0);
    CHECK_EQ(feed.anchor_line(), "50");
    CHECK_EQ(feed.steps().parts, trains);
  }
}

TEST(a_program_that_works_on_behind_its_loop_has_left_it) {
  constexpr uint64_t kWorkedNs = 70'000;
  LoopFeed feed;
  for (int i = 0; i < 30; ++i) feed.round();
  CHECK_EQ(feed.steps().idle_ns(), 0u);
  feed.step_ns = 3 * kWorkedNs;
  feed.free(0x40000000);  // takes the time
  feed.put({GMT_PYTHON_ENDING, kWorkedNs, 0, GMT_DEVICE_NONE});
  CHECK_EQ(feed.steps().idle_ns(), kWorkedNs);
  feed.put({GMT_PROCESS_ENDING, 0, 0, 0, 0, 0});
  CHECK_EQ(feed.steps().idle_ns(), kWorkedNs);
}

TEST(what_no_round_did_is_behind_the_last_round) {
  for (const bool behind : {false, true}) {
    LoopFeed feed;
    for (int i = 0; i < 30; ++i) feed.round();
    feed.allocate(0x50000000, 900, kSetup);
    const uint64_t alone_ns = feed.now_ns;
    if (behind) feed.allocate(0x60000000, 900, kSetup);  // once more, but no round had it
    if (!behind) feed.allocate(0x2000, 200, kForward), feed.free(0x2000);
    CHECK_EQ(feed.count_steps(), 30u);
    CHECK_EQ(feed.steps().last_end_ns, behind ? alone_ns - 1 : feed.now_ns);
  }
}

TEST(a_line_that_allocates_several_times_is_no_round_each_time) {
  ServerFeed feed;
  for (int i = 0; i < 40; ++i) feed.touch(ServerFeed::kRequest, 3), feed.touch(ServerFeed::kMiss);
  CHECK_EQ(feed.anchor_line(), "50");
  CHECK_EQ(feed.count_steps(), 40u);
}

TEST(a_line_that_allocates_several_times_in_the_first_round_alone_makes_no_more_rounds) {
  ServerFeed feed;
  for (int i = 0; i < 40; ++i) feed.touch(ServerFeed::kRequest), feed.touch(ServerFeed::kMiss, i == 0 ? 3 : 1);
  CHECK_EQ(feed.anchor_line(), "50");
  CHECK_EQ(feed.count_steps(), 40u);
}

TEST(a_few_rounds_are_no_more_because_a_line_of_theirs_allocates_several_times) {
  for (const int rounds : {6, 10}) {
    ServerFeed feed;
    for (int i = 0; i < rounds; ++i) feed.touch(ServerFeed::kRequest), feed.touch(ServerFeed::kMiss, 3);
    feed.put({GMT_PROCESS_ENDING, 0, 0, 0, 0, 0});
    CHECK(feed.steps().source != StepSource::Periodic);
  }
  ServerFeed one;  // all that a loop allocates
  for (int i = 0; i < 2; ++i) one.touch(ServerFeed::kRequest), one.touch(ServerFeed::kMiss, 12);
  CHECK_EQ(one.anchor_line(), "5");
}

TEST(each_stack_is_looked_up_once_a_search_however_often_it_allocates) {
  constexpr uint32_t kSites = 40;
  std::vector<LoopFinder::Maker> makers;
  LoopFinder finder;
  for (uint32_t cell = 0; cell < kSites; ++cell) makers.push_back({cell, cell});
  for (uint32_t i = 0; i < 4000; ++i) finder.note({i, 0, 512, i % kSites, StepEntry::Allocation, 0, false});
  size_t calls = 0;
  const auto find = [&](std::optional<CallPath> path) {
    const size_t before = calls;
    finder.find(makers, [&](uint32_t) { return ++calls, path; }, {});
    return calls - before;
  };
  CHECK_EQ(find(std::nullopt), kSites);  // their names have not been read yet
  CHECK_EQ(find(std::nullopt), kSites);  // perhaps now
  CHECK_EQ(find(CallPath{}), kSites);    // too deep
  CHECK_EQ(find(CallPath{}), 0u);
}

TEST(what_has_no_lines_is_cut_by_time) {
  LoopFeed feed;
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i < 20'000; ++i) {
    feed.allocate(0x1000 + i, 1, 0);
    if (random() % 10 == 0) feed.now_ns += random() % 1'000'000;
  }
  const SiteSeries series = feed.series();
  CHECK(series.axis.source == StepSource::Time);
  CHECK_EQ(series.axis.count, static_cast<uint32_t>(feed.now_ns / ProcessSteps::kSliceNs));
  CHECK(series.axis.count > 2);
  CHECK_EQ(series.axis.marks[0].end_ns, ProcessSteps::kSliceNs);
  CHECK_EQ(series.axis.marks.back().end_ns, series.axis.count * ProcessSteps::kSliceNs);
}

TEST(slices_of_time_without_an_event_are_steps_too) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  feed.now_ns = 10 * ProcessSteps::kSliceNs;
  feed.allocate(0x2000, 10);
  const SiteSeries series = feed.series();
  CHECK_EQ(series.axis.count, 10u);
  CHECK(row_of(series, SeriesColumn::LiveBytes) == Numbers(10, 100));
  CHECK(row_of(series, SeriesColumn::Allocations) == (Numbers{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(a_damaged_time_is_survived) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  for (int i = 0; i < 6; ++i) {
    feed.now_ns = (~0ull >> 6) * static_cast<uint64_t>(i + 1);
    feed.allocate(0x2000 + static_cast<uint64_t>(i), 10);
  }
  const SiteSeries series = feed.series();
  CHECK(series.axis.count <= 2 * StepFrame::kMostSteps);
  CHECK(series.axis.buckets.size() <= 2048);
  CHECK_EQ(feed.blocks().rows[0].step, 1u);
}

TEST(optimizer_steps_take_over_and_what_was_before_is_their_first) {
  LoopFeed feed;
  feed.set_up(10);
  for (int i = 0; i < 30; ++i) feed.round();
  CHECK(feed.steps().source == StepSource::Periodic);
  feed.end_step();
  feed.round();
  feed.end_step();
  const SiteSeries series = feed.series();
  CHECK(series.axis.source == StepSource::Optimizer);
  CHECK_EQ(series.axis.count, 2u);
  const size_t leak = feed.row_of_line(series, kLeak);
  CHECK(row_of(series, SeriesColumn::LiveBytes, leak) == (Numbers{30 * 64.0, 31 * 64.0}));
  CHECK(row_of(series, SeriesColumn::Allocations, leak) == (Numbers{30, 1}));
  CHECK(row_of(series, SeriesColumn::SurvivorCount, leak) == (Numbers{30, 1}));
  const size_t input = feed.row_of_line(series, kInput);
  CHECK(row_of(series, SeriesColumn::Frees, input) == (Numbers{30, 1}));
  CHECK(row_of(series, SeriesColumn::MaxBytes, input) == (Numbers{100, 100}));
  CHECK(column_of(feed.ledger(), LedgerColumn::TensorMax)[0] >= 30 * 64.0 + 5120);
}

TEST(a_loop_that_follows_another_takes_over) {
  LoopFeed feed;
  for (int i = 0; i < 40; ++i) feed.round();
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  for (int i = 0; i < 100; ++i) {
    feed.allocate(0x1000, 8, 10);
    feed.allocate(0x2000, 8, 11);
    feed.free(0x1000);
    feed.free(0x2000);
  }
  CHECK(feed.steps().source == StepSource::Periodic);
  CHECK_EQ(feed.anchor_line(), "10");
  const SiteSeries series = feed.series();
  const size_t leak = feed.row_of_line(series, kLeak);
  CHECK_EQ(row_of(series, SeriesColumn::LiveBytes, leak).back(), 40 * 64.0);
  CHECK_EQ(row_of(series, SeriesColumn::SurvivorBytes, leak)[0], 40 * 64.0);
}

TEST(an_evaluation_is_no_new_loop) {
  LoopFeed feed;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 100; ++i) feed.round();
    for (int i = 0; i < 40; ++i) {
      feed.allocate(0x1000, 8, 10);
      feed.allocate(0x2000, 8, 11);
      feed.free(0x1000);
      feed.free(0x2000);
    }
  }
  CHECK_EQ(feed.anchor_line(), std::to_string(kInput));
  CHECK_EQ(feed.count_steps(), 300u);
  const SiteSeries series = feed.series();
  CHECK_EQ(row_of(series, SeriesColumn::LiveBytes, feed.row_of_line(series, kLeak)).back(), 300 * 64.0);
}

/// The blocks that a `main` of rounds held are gone when it returns, before the process ends.
TEST(a_round_in_which_all_was_taken_down_is_no_step) {
  LoopFeed feed;
  for (int i = 0; i < 40; ++i) feed.round();
  for (uint64_t i = 0; i < feed.kept; ++i) feed.free(0x40000000 + i * 0x1000);
  CHECK_EQ(feed.count_steps(), 39u);
  const SiteSeries series = feed.series();
  CHECK_EQ(row_of(series, SeriesColumn::LiveBytes, feed.row_of_line(series, kLeak)).back(), 39 * 64.0);
}

TEST(batches_of_any_length_give_the_same_answer) {
  std::vector<gmt::trace::Event> events;
  for (uint64_t round = 0; round < 50; ++round) {
    for (uint32_t line : {kInput, kForward, kLoss}) {
      const uint64_t number = events.size() + 1;
      events.push_back({number, number * 1'000'000, 0x1000 * number, 64, line, 0, 0, 0, 0, GMT_TENSOR_ALLOC});
    }
  }
  std::vector<SiteSeries> answers;
  for (const size_t length : {1, 7, 150}) {
    LoopFeed feed;
    for (size_t at = 0; at < events.size(); at += length) {
      feed.model.ingest({0, {events.data() + at, std::min(length, events.size() - at)}, {}, {}});
    }
    answers.push_back(feed.series());
  }
  CHECK(answers[0].axis.source == StepSource::Periodic);
  for (const SiteSeries &other : answers) {
    CHECK(other.axis.buckets == answers[0].axis.buckets);
    CHECK(other.columns == answers[0].columns);
  }
}

TEST_MAIN
