// Steps and what sites did in them.
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "check.h"
#include "model_step_feed.h"

using namespace gmt::test;
using namespace gmt::model;

TEST(buckets_are_one_wide_at_the_end_and_wider_before) {
  const auto axis = step_axis(1000, 16);
  REQUIRE(!axis.empty());
  CHECK_EQ(axis.front().first, 1u);
  CHECK_EQ(axis.back().last, 1000u);
  for (size_t i = 0; i < axis.size(); ++i) {
    const uint32_t width = axis[i].last - axis[i].first + 1;
    CHECK_EQ((axis[i].first - 1) % width, 0u);
    CHECK_EQ(width & (width - 1), 0u);
    if (i > 0) CHECK_EQ(axis[i].first, axis[i - 1].last + 1);
    if (axis[i].first > 1000 - 32) CHECK_EQ(width, 1u);
  }
  CHECK(step_axis(1'000'000, 14).size() <= 256);
  CHECK(step_axis(0, 64).empty());
  CHECK(step_axis_of(1'000'000, 64, 20).size() <= 20);
}

TEST(buckets_only_grow_together) {
  for (uint32_t count = 1; count < 700; ++count) {
    const auto now = step_axis(count, 8), later = step_axis(count + 1, 8);
    for (const StepBucket &bucket : now) {
      const StepBucket first = bucket_of(bucket.first, count + 1, 8), last = bucket_of(bucket.last, count + 1, 8);
      CHECK(first == last);
      CHECK(bucket_of(bucket.last, count, 8) == bucket);
    }
  }
}

TEST(a_spark_line_goes_by_steps_whatever_time_they_take) {
  StepFeed feed;
  constexpr uint64_t kSteps = 320, kBytes = 1000;
  for (uint64_t step = 0; step < kSteps; ++step) {
    feed.step_ns = step < kSteps / 2 ? 20'000'000 : 80'000'000;  // the second half takes far longer
    feed.allocate(0x1000 + step, kBytes);
    feed.end_step();
  }
  const auto spark = feed.sites().rows.front().spark;
  CHECK_EQ(spark[15], static_cast<double>(kSteps * kBytes));
  for (int i = 0; i < 16; ++i) {
    const double straight = kBytes * (1 + (kSteps - 1) * i / 15.0);
    CHECK(std::abs(spark[i] - straight) < 0.05 * kSteps * kBytes);
  }
}

TEST(a_spark_line_has_what_is_alive_at_the_ends_of_steps_not_within_them) {
  StepFeed feed;
  constexpr uint64_t kSteps = 40, kBytes = 512;
  feed.step_ns = 1'000;
  for (uint64_t step = 0; step < kSteps; ++step) {
    feed.allocate(0x1000000, 1 << 20);
    feed.now_ns += 90'000'000;  // of a step of 100 ms
    feed.free(0x1000000);
    feed.allocate(0x1000 + step, kBytes);
    feed.now_ns += 10'000'000;
    feed.end_step();
  }
  const auto spark = feed.sites().rows.front().spark;
  for (int i = 0; i < 16; ++i) {
    const double straight = kBytes * (1 + (kSteps - 1) * i / 15.0);
    CHECK(std::abs(spark[i] - straight) <= kBytes);
  }
}

TEST(optimizer_steps_are_counted_and_hold_what_happened_in_them) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  feed.allocate(0x2000, 50);
  feed.free(0x2000);
  feed.end_step();
  feed.allocate(0x3000, 30);
  feed.end_step();
  feed.end_step();
  feed.free(0x1000);
  feed.allocate(0x4000, 7);
  feed.end_step();
  feed.allocate(0x5000, 1000);  // of the step that runs: in none of the series
  const SiteSeries series = feed.series();
  CHECK(series.axis.source == StepSource::Optimizer);
  CHECK_EQ(series.axis.count, 4u);
  REQUIRE(series.rows.size() == 1 && series.axis.buckets.size() == 4);
  CHECK(row_of(series, SeriesColumn::LiveBytes) == (Numbers{100, 130, 130, 37}));
  CHECK(row_of(series, SeriesColumn::LiveCount) == (Numbers{1, 2, 2, 2}));
  CHECK(row_of(series, SeriesColumn::MinBytes) == (Numbers{0, 100, 130, 30}));
  CHECK(row_of(series, SeriesColumn::MaxBytes) == (Numbers{150, 130, 130, 130}));
  CHECK(row_of(series, SeriesColumn::Allocations) == (Numbers{2, 1, 0, 1}));
  CHECK(row_of(series, SeriesColumn::AllocatedBytes) == (Numbers{150, 30, 0, 7}));
  CHECK(row_of(series, SeriesColumn::Frees) == (Numbers{1, 0, 0, 1}));
  CHECK(row_of(series, SeriesColumn::FreedBytes) == (Numbers{50, 0, 0, 100}));
  CHECK(row_of(series, SeriesColumn::LargestBytes) == (Numbers{100, 30, 0, 7}));
  CHECK(row_of(series, SeriesColumn::OldFreedBytes) == (Numbers{0, 0, 0, 100}));
  CHECK(row_of(series, SeriesColumn::SurvivorBytes) == (Numbers{0, 30, 0, 7}));
  CHECK(row_of(series, SeriesColumn::SurvivorCount) == (Numbers{0, 1, 0, 1}));
  const SiteSeriesRow &row = series.rows[0];
  CHECK_EQ(row.last_allocation_step, 5u);
  CHECK_EQ(row.oldest_freed_steps, 3u);
  CHECK_EQ(row.device, 0);
  CHECK(series.axis.marks[1].end_ns > series.axis.marks[0].end_ns);
}

TEST(what_is_freed_after_the_last_step_survived_it) {
  StepFeed feed;
  for (uint64_t i = 1; i <= 5; ++i) {
    feed.allocate(0x1000 * i, 10);
    feed.end_step();
  }
  for (uint64_t i = 1; i <= 5; ++i) feed.free(0x1000 * i);
  feed.allocate(0x9000, 1);
  const SiteSeries series = feed.series();
  CHECK(row_of(series, SeriesColumn::SurvivorBytes) == (Numbers{10, 10, 10, 10, 10}));
  CHECK(row_of(series, SeriesColumn::LiveBytes) == (Numbers{10, 20, 30, 40, 50}));
  feed.end_step();
  CHECK(row_of(feed.series(), SeriesColumn::SurvivorBytes) == (Numbers{0, 0, 0, 0, 0, 1}));
  CHECK(row_of(feed.series(), SeriesColumn::LiveBytes).back() == 1);
}

TEST(frees_inside_the_collector_are_told) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  feed.allocate(0x2000, 10);
  feed.allocate(0x3000, 1);
  feed.end_step();
  feed.put({GMT_GC_BEGIN, 2, 0, GMT_DEVICE_NONE, 3});
  feed.free(0x1000, 3);
  feed.free(0x2000, 0);  // another thread
  feed.put({GMT_GC_END, 12, 0, GMT_DEVICE_NONE, 3});
  feed.free(0x3000, 3);
  feed.put({GMT_GC_BEGIN, 0, 0, GMT_DEVICE_NONE, 0});
  feed.put({GMT_GC_END, 0, 0, GMT_DEVICE_NONE, 0});
  feed.end_step();
  const SiteSeries series = feed.series();
  CHECK(row_of(series, SeriesColumn::GcFreedBytes) == (Numbers{0, 100}));
  CHECK(row_of(series, SeriesColumn::Frees) == (Numbers{0, 3}));
  CHECK_EQ(series.axis.marks[1].full_collections, 1u);
  CHECK_EQ(series.axis.marks[0].full_collections, 0u);
}

TEST(a_million_steps_are_few_points_with_exact_ends) {
  StepFeed feed;
  feed.step_ns = 1000;
  constexpr uint32_t kSteps = 200'000;
  for (uint32_t step = 1; step <= kSteps; ++step) {
    if (step % 4 == 0) feed.allocate(0x10000 + step, 8);
    feed.end_step();
  }
  const SiteSeries series = feed.series();
  CHECK(series.axis.buckets.size() < 1000);
  const Numbers live = row_of(series, SeriesColumn::LiveBytes), made = row_of(series, SeriesColumn::Allocations),
                alive = row_of(series, SeriesColumn::SurvivorCount);
  for (size_t i = 0; i < live.size(); ++i) {
    const StepBucket &bucket = series.axis.buckets[i];
    CHECK_EQ(live[i], 8.0 * (bucket.last / 4));
    CHECK_EQ(made[i], static_cast<double>(bucket.last / 4 - (bucket.first - 1) / 4));
    CHECK_EQ(alive[i], made[i]);
  }
  const SiteSeries coarse = feed.series(40);
  CHECK(coarse.axis.buckets.size() <= 40);
  const Numbers few = row_of(coarse, SeriesColumn::Allocations);
  CHECK_EQ(std::accumulate(few.begin(), few.end(), 0.0), kSteps / 4.0);
}

TEST(detail_makes_room_where_sites_are_many) {
  StepFeed feed;
  feed.step_ns = 1000;
  constexpr uint32_t kSites = 6000, kSteps = 220;
  for (uint32_t stack = 1; stack <= kSites; ++stack) feed.names.set(100 + stack, {{"many.py", stack, "f"}});
  for (uint32_t step = 1; step <= kSteps; ++step) {
    for (uint32_t stack = 1; stack <= kSites; ++stack) {
      feed.allocate(0x100000 + stack, 16 + step % 2, 100 + stack);
      feed.free(0x100000 + stack);
    }
    feed.end_step();
  }
  SiteSeriesQuery query;
  query.to = 3;
  query.points = 2048;
  const SiteSeries series = feed.model.site_series(query);
  CHECK_EQ(series.total, kSites);
  CHECK_EQ(series.axis.count, kSteps);
  CHECK(series.axis.buckets.size() < step_axis(kSteps, kFinest).size());
  for (size_t row = 0; row < 3; ++row) {
    const Numbers made = row_of(series, SeriesColumn::Allocations, row);
    for (size_t i = 0; i < made.size(); ++i) {
      CHECK_EQ(made[i], series.axis.buckets[i].last - series.axis.buckets[i].first + 1.0);
    }
  }
}

TEST(the_ledger_has_every_layer_at_the_end_of_each_step) {
  StepFeed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x10000, 1000, 0});
  feed.put({GMT_RESERVED, 0, 1000, 0});
  feed.put({GMT_HOST_ALLOC, 0x90000, 64, GMT_DEVICE_NONE});
  feed.allocate(0x10000, 400);
  feed.end_step();
  feed.put_memory({0, feed.now_ns, 5000, 6000, 8000, 0});
  feed.allocate(0x10200, 300);
  const uint64_t peak_ns = feed.now_ns;
  feed.free(0x10200);
  feed.put({GMT_DEVICE_ALLOC, 0x20000, 500, 0});
  feed.put({GMT_RESERVED, 0, 1500, 0});
  feed.put({GMT_FREE, 0x20000, 0, 0});
  feed.end_step();
  const LedgerSeries series = feed.ledger();
  CHECK(column_of(series, LedgerColumn::Tensor) == (Numbers{400, 400}));
  CHECK(column_of(series, LedgerColumn::TensorMax) == (Numbers{400, 700}));
  CHECK_EQ(column_of(series, LedgerColumn::TensorMaxNs)[1], static_cast<double>(peak_ns));
  CHECK(column_of(series, LedgerColumn::Driver) == (Numbers{1000, 1000}));
  CHECK(column_of(series, LedgerColumn::DriverMax) == (Numbers{1000, 1500}));
  CHECK(column_of(series, LedgerColumn::Reserved) == (Numbers{1000, 1000}));
  CHECK(column_of(series, LedgerColumn::ReservedMax) == (Numbers{1000, 1500}));
  CHECK(column_of(series, LedgerColumn::Host) == (Numbers{64, 64}));
  CHECK(std::isnan(column_of(series, LedgerColumn::Process)[0]));
  CHECK_EQ(column_of(series, LedgerColumn::Process)[1], 5000.0);
  CHECK_EQ(column_of(series, LedgerColumn::Used)[1], 6000.0);
  CHECK_EQ(column_of(series, LedgerColumn::Total)[1], 8000.0);
  const LedgerSeries other = feed.ledger(3);
  CHECK(column_of(other, LedgerColumn::Tensor) == (Numbers{0, 0}));
  CHECK(std::isnan(column_of(other, LedgerColumn::Reserved)[1]));
}

TEST(passes_are_told_by_the_stacks_of_allocations) {
  constexpr uint32_t kForward = 1, kOther = 3, kBackward = 30, kOptimizer = 33;  // a multiple of 3 is in no module
  StepFeed feed;
  feed.names.set(kBackward, {{"/x/torch/autograd/__init__.py", 340, "backward"}, {"train.py", 77, "main"}});
  feed.names.set(kOptimizer, {{"/x/torch/optim/adam.py", 100, "step"}, {"train.py", 78, "main"}});
  uint64_t address = 0x10000;
  const auto make = [&](uint32_t stack) { feed.allocate(address += 0x1000, 512, stack); };
  const auto told = [&](uint64_t from_ns = 0) {
    std::vector<gmt::model::Pass> passes;
    for (const auto &one : feed.model.passes({0, from_ns, feed.now_ns + 1})) passes.push_back(one.pass);
    return passes;
  };
  for (int step = 0; step < 2; ++step) {
    make(kOther);
    make(kForward);  // a mask, say: before the first node it might be an evaluation
    feed.make_node(10, kForward);
    make(kForward);
    make(kBackward);
    make(kOptimizer);
    feed.end_step();
  }
  make(2);
  using enum gmt::model::Pass;
  CHECK(told() == (std::vector{Forward, Backward, Optimizer, Other, Forward, Backward, Optimizer, Other, Evaluation}));
  CHECK(told(feed.now_ns - feed.step_ns) == (std::vector{Other, Evaluation}));
  for (size_t i = 0; i < 2 * model::Passes::kMostBegins; ++i) make(i % 2 ? kBackward : kOptimizer);
  CHECK_EQ(told().size(), model::Passes::kMostBegins);
}

TEST(steps_with_missing_events_are_flagged) {
  StepFeed feed;
  feed.allocate(0x1000, 1);
  feed.end_step();
  feed.put({GMT_RECORDING_STOP});
  feed.end_step();
  feed.put({GMT_RECORDING_START});
  feed.end_step();
  feed.end_step();
  feed.put({GMT_GAP_BEGIN});
  feed.put({GMT_GAP_END});
  feed.end_step();
  feed.lose_events(3);
  feed.allocate(0x2000, 1);
  feed.end_step();
  const auto marks = feed.series().axis.marks;
  REQUIRE(marks.size() == 6);
  const int flags[] = {0, kStepPaused, kStepPaused, 0, kStepDriverGap, kStepLostEvents};
  for (size_t i = 0; i < 6; ++i) CHECK_EQ(marks[i].flags, flags[i]);
  CHECK_EQ(feed.model.process(0)->steps.touched, 4u);
  const auto &pauses = feed.model.process(0)->pauses;
  REQUIRE(pauses.size() == 1);
}

TEST(sites_that_turn_out_to_be_one_have_one_series) {
  Feed feed;
  const auto end_step = [&] { feed.put({GMT_STEP, 1, 0, GMT_DEVICE_NONE}); };
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100, 0, 0, 1});
  end_step();
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 20, 0, 0, 2});
  end_step();
  feed.put({GMT_TENSOR_ALLOC, 0x3000, 3, 0, 0, 1});
  feed.put({GMT_TENSOR_FREE, 0x2000});
  feed.put({GMT_TENSOR_ALLOC, 0x4000, 4, 0, 0, 2});
  end_step();
  feed.names.set(1, {{"a.py", 3, "f"}});
  feed.names.set(2, {{"a.py", 3, "f"}});
  const SiteSeries series = feed.model.site_series({});
  REQUIRE(series.rows.size() == 1);
  CHECK(row_of(series, SeriesColumn::LiveBytes) == (Numbers{100, 120, 107}));
  CHECK(row_of(series, SeriesColumn::LiveCount) == (Numbers{1, 2, 3}));
  CHECK(row_of(series, SeriesColumn::AllocatedBytes) == (Numbers{100, 20, 7}));
  CHECK(row_of(series, SeriesColumn::FreedBytes) == (Numbers{0, 0, 20}));
  CHECK(row_of(series, SeriesColumn::SurvivorBytes) == (Numbers{100, 0, 7}));
}

namespace {

/// What a site did in one step, counted without any shortcut.
struct SiteCounts {
  double live = 0, count = 0, least = 0, most = 0, allocations = 0, allocated = 0, frees = 0, freed = 0;
  double old_freed = 0, old_live = 0, old_count = 0, largest = 0;
};
struct LiveBlock {
  uint64_t bytes;
  uint32_t site, step;
};

/// Random lives of blocks over 3 sites, of which the last rests for long; every third site's steps are often alike.
struct RandomSteps : StepFeed {
  std::map<uint64_t, LiveBlock> alive;
  std::vector<std::array<SiteCounts, 3>> steps;  // by step
  std::array<SiteCounts, 3> now;
  std::mt19937_64 random{11};
  uint64_t next = 0x1000;

  void allocate_one(uint32_t site, uint64_t bytes) {
    allocate(next, bytes, site + 1);
    alive[next] = {bytes, site, static_cast<uint32_t>(steps.size() + 1)};
    next += 0x1000;
    SiteCounts &own = now[site];
    own.live += static_cast<double>(bytes);
    own.most = std::max(own.most, own.live);
    own.largest = std::max(own.largest, static_cast<double>(bytes));
    ++own.count, ++own.allocations, own.allocated += static_cast<double>(bytes);
  }
  void free_one() {
    if (alive.empty()) return;
    const auto block = std::next(alive.begin(), static_cast<std::ptrdiff_t>(random() % alive.size()));
    const auto [bytes, site, step] = block->second;
    free(block->first);
    alive.erase(block);
    SiteCounts &own = now[site];
    own.live -= static_cast<double>(bytes);
    own.least = std::min(own.least, own.live);
    --own.count, ++own.frees, own.freed += static_cast<double>(bytes);
    if (step + 1 >= steps.size() + 1) return;
    own.old_freed += static_cast<double>(bytes);
  }
  void finish_step() {
    end_step();
    for (SiteCounts &own : now) own.old_live = own.old_count = 0;
    for (const auto &[address, block] : alive) {
      if (block.step + 2 > steps.size() + 1) continue;
      now[block.site].old_live += static_cast<double>(block.bytes);
      ++now[block.site].old_count;
    }
    steps.push_back(now);
    for (SiteCounts &own : now) own = {.live = own.live, .count = own.count, .least = own.live, .most = own.live};
  }
  SiteSeries run(uint32_t count) {
    for (uint32_t step = 0; step < count; ++step) {
      for (uint64_t i = random() % 4; i > 0; --i) allocate_one(0, 1 + random() % 100);
      if (step % 50 > 10) allocate_one(1, 64);
      if (random() % 30 == 0) allocate_one(2, 1000);
      for (uint64_t i = random() % 5; i > 0; --i) free_one();
      finish_step();
    }
    return series();
  }
};

}  // namespace

TEST(series_are_what_a_plain_count_says) {
  RandomSteps feed;
  const SiteSeries series = feed.run(500);
  REQUIRE(series.rows.size() == 3 && series.axis.count == 500);
  for (size_t row = 0; row < 3; ++row) {
    const uint32_t site = feed.model.site(series.rows[row].id)->stack.frames[0].line - 1;
    const auto values = [&](SeriesColumn column) { return row_of(series, column, row); };
    const auto sum = [&](const StepBucket &bucket, double SiteCounts::*field) {
      double all = 0;
      for (uint32_t step = bucket.first; step <= bucket.last; ++step) all += feed.steps[step - 1][site].*field;
      return all;
    };
    double survivors = 0;
    for (size_t i = 0; i < series.axis.buckets.size(); ++i) {
      const StepBucket &bucket = series.axis.buckets[i];
      const SiteCounts &end = feed.steps[bucket.last - 1][site];
      CHECK_EQ(values(SeriesColumn::LiveBytes)[i], end.live);
      CHECK_EQ(values(SeriesColumn::LiveCount)[i], end.count);
      CHECK_EQ(values(SeriesColumn::OldLiveBytes)[i], end.old_live);
      CHECK_EQ(values(SeriesColumn::OldLiveCount)[i], end.old_count);
      CHECK_EQ(values(SeriesColumn::Allocations)[i], sum(bucket, &SiteCounts::allocations));
      CHECK_EQ(values(SeriesColumn::AllocatedBytes)[i], sum(bucket, &SiteCounts::allocated));
      CHECK_EQ(values(SeriesColumn::Frees)[i], sum(bucket, &SiteCounts::frees));
      CHECK_EQ(values(SeriesColumn::FreedBytes)[i], sum(bucket, &SiteCounts::freed));
      CHECK_EQ(values(SeriesColumn::OldFreedBytes)[i], sum(bucket, &SiteCounts::old_freed));
      double least = end.least, most = 0, largest = 0;
      for (uint32_t step = bucket.first; step <= bucket.last; ++step) {
        least = std::min(least, feed.steps[step - 1][site].least);
        most = std::max(most, feed.steps[step - 1][site].most);
        largest = std::max(largest, feed.steps[step - 1][site].largest);
      }
      CHECK_EQ(values(SeriesColumn::MinBytes)[i], least);
      CHECK_EQ(values(SeriesColumn::MaxBytes)[i], most);
      CHECK_EQ(values(SeriesColumn::LargestBytes)[i], largest);
      survivors += values(SeriesColumn::SurvivorBytes)[i];
    }
    CHECK_EQ(survivors, feed.steps.back()[site].live);
  }
}

TEST_MAIN
