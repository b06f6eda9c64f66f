// Every allocation is handed out once, with its end, whatever ends it.
#include <map>
#include <random>
#include <set>

#include "check.h"
#include "model_fixture.h"

using namespace gmt;
using namespace gmt::test;
using model::Layer;
using model::Lifetime;
using model::LifetimeLog;

namespace {

struct LoggedFeed : Feed {
  LifetimeLog log;
  explicit LoggedFeed(uint64_t from_ns = 0) : log(from_ns) { model.log_lifetimes(&log); }
  std::vector<Lifetime> finish() {
    model.finish_lifetimes();
    return {log.ready().begin(), log.ready().end()};
  }
};

/// Begin, end (0 = alive), bytes.
using Facts = std::tuple<uint64_t, uint64_t, uint64_t>;
std::multimap<uint64_t, Facts> facts_of(const std::vector<Lifetime> &all) {
  std::multimap<uint64_t, Facts> out;
  for (const Lifetime &one : all) {
    out.emplace(one.address, Facts{one.begin_ns, one.end_ns == Lifetime::kAlive ? 0 : one.end_ns, one.bytes});
  }
  return out;
}

}  // namespace

TEST(the_step_of_an_allocation_is_that_of_its_birth_however_late_steps_are_known) {
  for (const bool marked : {true, false}) {
    LoggedFeed feed;
    feed.step_ns = 50'000'000;  // slices of time end meanwhile
    feed.names.set(1, {{"train.py", 1, "step"}});
    feed.names.set(2, {{"train.py", 2, "step"}});
    for (int round = 0; round < 30; ++round) {
      feed.put({GMT_TENSOR_ALLOC, 0x1000, 64, 0, 0, 1});
      feed.put({GMT_TENSOR_ALLOC, 0x2000, 64, 0, 0, 2});
      feed.put({GMT_TENSOR_FREE, 0x1000});
      feed.put({GMT_TENSOR_FREE, 0x2000});
      if (marked && round >= 9) feed.put({GMT_STEP, static_cast<uint64_t>(round - 8)});
    }
    std::map<uint32_t, int> by_step;
    for (const Lifetime &one : feed.finish()) ++by_step[one.step];
    CHECK_EQ(by_step.size(), marked ? 21u : 30u);
    CHECK_EQ(by_step[1], marked ? 20 : 2);
    CHECK_EQ(by_step[2], 2);
  }
}

TEST(begins_and_ends_equal_a_naive_replay_and_sums_the_totals) {
  LoggedFeed feed;
  std::mt19937 random(1);
  std::map<uint64_t, Facts> live;
  std::multimap<uint64_t, Facts> expected;
  for (uint64_t i = 0; i < 30'000; ++i) {
    const bool driver = random() % 5 == 0;
    const uint64_t address = (driver ? 1'000'000 : 0) + 512 * (1 + random() % 3000);
    const auto known = live.find(address);
    const uint64_t now = feed.now_ns + feed.step_ns;
    const bool lives = known != live.end();
    if (lives) {  // freed, or given out again without a free
      std::get<1>(known->second) = now;
      expected.insert(*known);
      live.erase(known);
    }
    if (lives && random() % 4 != 0) {
      feed.put({static_cast<uint8_t>(driver ? GMT_FREE : GMT_TENSOR_FREE), address});
      continue;
    }
    const uint64_t bytes = 1 + random() % 100'000;
    live[address] = {now, 0, bytes};
    feed.put({static_cast<uint8_t>(driver ? GMT_DEVICE_ALLOC : GMT_TENSOR_ALLOC), address, bytes});
  }
  expected.insert(live.begin(), live.end());
  const std::vector<Lifetime> all = feed.finish();
  std::multiset<std::pair<uint64_t, Facts>> a, b;
  for (const auto &one : facts_of(all)) a.insert(one);
  for (const auto &one : expected) b.insert(one);
  CHECK(a == b);
  for (const Layer layer : {Layer::Tensor, Layer::Driver}) {
    const auto totals = feed.totals(layer);
    uint64_t allocations = 0, bytes = 0, frees = 0, freed = 0;
    for (const Lifetime &one : all) {
      if (feed.model.maker(one.cell).layer != layer) continue;
      ++allocations;
      bytes += one.bytes;
      frees += one.end_ns != Lifetime::kAlive;
      freed += one.end_ns != Lifetime::kAlive ? one.bytes : 0;
    }
    CHECK_EQ(allocations, totals.allocations);
    CHECK_EQ(bytes, totals.allocated_bytes);
    CHECK_EQ(frees, totals.frees);
    CHECK_EQ(freed, totals.freed_bytes);
    CHECK(totals.implied_frees > 100);
  }
}

TEST(who_freed_it_is_known_or_nobody) {
  LoggedFeed feed;
  feed.put({GMT_TENSOR_ALLOC, 1, 100, 0, 3});
  feed.put({GMT_TENSOR_FREE, 1, 0, 0, 5});
  feed.put({GMT_TENSOR_ALLOC, 2, 100, 0, 3});
  feed.put({GMT_TENSOR_ALLOC, 2, 200, 0, 4});
  const auto all = feed.finish();
  REQUIRE(all.size() == 3);
  CHECK_EQ(all[0].free_thread, 5);
  CHECK_EQ(feed.model.maker(all[0].cell).thread, 3);
  CHECK_EQ(all[1].free_thread, Lifetime::kNoThread);
  CHECK_EQ(all[1].end_ns, all[2].begin_ns);
  CHECK_EQ(all[2].end_ns, Lifetime::kAlive);
}

TEST(a_free_that_failed_ends_nothing) {
  LoggedFeed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x100, 100});
  feed.put({GMT_DEVICE_ALLOC, 0x200, 200});
  feed.put({GMT_FREE, 0x100});
  feed.put({GMT_FREE, 0x200});
  feed.put({GMT_FREE_UNDONE, 0x100, GMT_FREE});
  CHECK(feed.log.ready().empty());
  auto all = feed.finish();
  REQUIRE(all.size() == 2);
  CHECK_EQ(all[0].address, 0x200u);
  CHECK_EQ(all[0].end_ns, 4'000'000u);
  CHECK_EQ(all[1].address, 0x100u);
  CHECK_EQ(all[1].end_ns, Lifetime::kAlive);
}

TEST(a_reset_that_failed_ends_nothing_and_a_good_one_all) {
  for (const bool failed : {true, false}) {
    LoggedFeed feed;
    for (uint64_t i = 1; i <= 500; ++i) feed.put({GMT_DEVICE_ALLOC, i << 20, 100});
    feed.put({GMT_DEVICE_RESET, 0, 0, 0, 7});
    if (failed) feed.put({GMT_FREE_UNDONE, 0, GMT_DEVICE_RESET});
    const auto all = feed.finish();
    CHECK_EQ(all.size(), 500u);
    for (const Lifetime &one : all) {
      CHECK_EQ(one.end_ns == Lifetime::kAlive, failed);
      CHECK_EQ(one.free_thread, failed ? Lifetime::kNoThread : 7);
    }
  }
}

TEST(ends_of_the_driver_are_told_once_they_cannot_be_taken_back) {
  LoggedFeed feed;
  feed.put({GMT_STEP, 1});
  for (uint64_t i = 1; i <= 1000; ++i) {
    feed.put({GMT_DEVICE_ALLOC, i << 20, 100});
    feed.put({GMT_FREE, i << 20});
  }
  CHECK_EQ(feed.log.ready().size(), 1000 - model::UndoRing::kSize - 1);
  CHECK_EQ(feed.finish().size(), 1000u);
}

TEST(the_last_free_that_can_be_undone_is_not_told_before) {
  LoggedFeed feed;
  feed.put({GMT_STEP, 1});
  feed.put({GMT_DEVICE_ALLOC, 0x100, 100});
  feed.put({GMT_FREE, 0x100});
  for (uint64_t i = 1; i < model::UndoRing::kSize; ++i) {
    feed.put({GMT_DEVICE_ALLOC, i << 20, 100});
    feed.put({GMT_FREE, i << 20});
  }
  feed.put({GMT_FREE_UNDONE, 0x100, GMT_FREE});
  const auto all = feed.finish();
  REQUIRE(all.size() == model::UndoRing::kSize);
  CHECK_EQ(all.back().address, 0x100u);
  CHECK_EQ(all.back().end_ns, Lifetime::kAlive);
}

TEST(what_ended_before_is_left_out) {
  LoggedFeed feed(4'000'000);
  feed.put({GMT_TENSOR_ALLOC, 1, 100});
  feed.put({GMT_TENSOR_ALLOC, 2, 100});
  feed.put({GMT_TENSOR_FREE, 1});
  feed.put({GMT_TENSOR_FREE, 2});
  feed.put({GMT_TENSOR_ALLOC, 3, 100});
  const auto all = feed.finish();
  REQUIRE(all.size() == 2);
  CHECK_EQ(all[0].address, 2u);
  CHECK_EQ(all[1].address, 3u);
}

TEST(an_ended_block_keeps_what_it_was_for) {
  LoggedFeed feed;
  feed.put({GMT_TENSOR_ALLOC, 1, 100});
  feed.put_name({feed.sequence(), 1, 0, GMT_CATEGORY_GRADIENT, "weight.grad"});
  feed.put({GMT_TENSOR_FREE, 1});
  const auto all = feed.finish();
  REQUIRE(all.size() == 1);
  CHECK_EQ(all[0].category, GMT_CATEGORY_GRADIENT);
}

TEST_MAIN
