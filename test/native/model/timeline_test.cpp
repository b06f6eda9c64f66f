// The timeline against a list of all changes.
#include <algorithm>
#include <random>

#include "check.h"
#include "model_fixture.h"

using namespace gmt::test;
using gmt::model::Bucket;
using gmt::model::Series;
using gmt::model::TimelineQuery;

namespace {

struct Change {
  uint64_t time_ns;
  int64_t value;
};

/// Checks every bucket of an answer against the changes inside it.
void check_answer(const std::vector<Change> &changes, const TimelineQuery &query, const std::vector<Bucket> &answer) {
  CHECK(answer.size() <= query.buckets);
  for (size_t i = 0; i < answer.size(); ++i) {
    const Bucket &bucket = answer[i];
    const uint64_t end = i + 1 < answer.size() ? answer[i + 1].begin_ns : ~0ull;
    int64_t low = INT64_MAX, high = INT64_MIN, last = 0, before = 0;
    for (const Change &change : changes) {
      if (change.time_ns < bucket.begin_ns) before = change.value;
      if (change.time_ns < bucket.begin_ns || change.time_ns >= end) continue;
      low = std::min(low, change.value);
      high = std::max(high, change.value);
      last = change.value;
    }
    if (i == 0 && bucket.begin_ns == query.from_ns && bucket.min == before && bucket.max == before) continue;
    if (end == ~0ull) {  // the last one may end before later changes
      CHECK(low <= bucket.min && bucket.max <= high);
      continue;
    }
    CHECK_EQ(bucket.min, low);
    CHECK_EQ(bucket.max, high);
    CHECK_EQ(bucket.last, last);
  }
  size_t inside = 0;
  for (const Change &change : changes) inside += change.time_ns >= query.from_ns && change.time_ns < query.to_ns;
  CHECK(inside == 0 || !answer.empty());
}

}  // namespace

TEST(random_runs_are_answered_exactly) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    Feed feed;
    std::vector<Change> changes;
    std::vector<std::pair<uint64_t, uint64_t>> live;
    const uint64_t pace = 1ull << (10 + 2 * seed);  // from 1 us to 4 ms between events
    int64_t bytes = 0;
    for (uint64_t i = 1; i <= 30'000; ++i) {
      feed.step_ns = random() % (2 * pace) + (random() % 500 == 0 ? 100 * pace : 0);
      if (!live.empty() && random() % 2) {
        std::swap(live[random() % live.size()], live.back());
        bytes -= static_cast<int64_t>(live.back().second);
        feed.put({GMT_TENSOR_FREE, live.back().first, 0});
        live.pop_back();
      } else {
        live.emplace_back(i, random() % 100'000);
        bytes += static_cast<int64_t>(live.back().second);
        feed.put({GMT_TENSOR_ALLOC, i, live.back().second});
      }
      changes.push_back({feed.now_ns, bytes});
    }
    for (int i = 0; i < 20; ++i) {
      TimelineQuery query;
      const uint64_t a = i == 0 ? 0 : random() % feed.now_ns, b = i == 0 ? feed.now_ns : random() % feed.now_ns;
      query.from_ns = std::min(a, b);
      query.to_ns = std::max(a, b) + 1;
      query.buckets = i % 5 == 0 ? 1000 : 1 + random() % 300;
      check_answer(changes, query, feed.model.timeline(query));
    }
  }
}

TEST(the_recent_past_is_fine_and_the_whole_run_has_thousands_of_buckets) {
  Feed feed;
  feed.step_ns = 100'000;
  for (uint64_t i = 1; i <= 200'000; ++i) feed.put({GMT_RESERVED, 0, i});  // 20 s
  TimelineQuery query;
  query.series = Series::Reserved;
  query.to_ns = feed.now_ns + 1;
  query.buckets = 100'000;
  CHECK(feed.model.timeline(query).size() >= 4096);
  query.from_ns = feed.now_ns - 100'000'000;  // the last 0.1 s: 1,000 changes, 66 us apart or more
  const auto recent = feed.model.timeline(query);
  CHECK(recent.size() >= 999);
  CHECK_EQ(recent.back().last, 200'000);
}

TEST(the_value_at_the_left_edge_leads) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 42});
  TimelineQuery query;
  query.from_ns = 500'000'000;
  query.to_ns = 600'000'000;
  const auto answer = feed.model.timeline(query);
  REQUIRE(answer.size() == 1);
  CHECK_EQ(answer[0].begin_ns, query.from_ns);
  CHECK_EQ(answer[0].min, 42);
  CHECK_EQ(answer[0].last, 42);
}

TEST(devices_and_processes_are_summed_as_steps) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100, 0}, 0);  // 1 ms: 100
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 10, 1}, 0);   // 2 ms: 110
  feed.put({GMT_TENSOR_ALLOC, 0x3000, 1, 0}, 1);    // 3 ms: 111
  feed.put({GMT_TENSOR_FREE, 0x1000, 100, 0}, 0);   // 4 ms: 11
  TimelineQuery query;
  query.to_ns = 10'000'000;
  query.buckets = 100;
  const auto sum = feed.model.timeline(query);
  REQUIRE(sum.size() == 4);
  const int64_t expected[] = {100, 110, 111, 11};
  for (size_t i = 0; i < 4; ++i) {
    CHECK_EQ(sum[i].min, expected[i]);
    CHECK_EQ(sum[i].max, expected[i]);
    CHECK_EQ(sum[i].last, expected[i]);
  }
  query.device = 1;
  CHECK_EQ(feed.model.timeline(query).size(), 1u);
  query.device.reset();
  query.process = 1;
  REQUIRE(feed.model.timeline(query).size() == 1);
  CHECK_EQ(feed.model.timeline(query)[0].last, 1);
}

TEST(memory_is_bounded_however_long_the_run) {
  gmt::model::TimelineSeries series;
  uint64_t time = 0;
  for (int i = 0; i < 3'000'000; ++i) series.set(time += 1'000'000'000, i);  // a change a second for 35 days
  int64_t before = 0;
  const auto kept = series.gather(0, time + 1, 1, before);
  CHECK(kept.size() >= 4096);
  CHECK(kept.size() < 40'000);
  CHECK_EQ(kept.back().bucket.last, 2'999'999);
  CHECK_EQ(kept.front().bucket.min, 0);
}

TEST_MAIN
