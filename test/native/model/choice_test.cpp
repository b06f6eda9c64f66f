// Questions about some of the live blocks: by birth, age, size, name and category. What must come back is picked by hand
// from all blocks.
#include <functional>
#include <map>
#include <random>

#include "check.h"
#include "model_step_feed.h"

using namespace gmt;
using namespace gmt::test;
using model::AllocationQuery;
using model::AllocationRow;
using model::AllocationSort;
using model::GroupBy;
using model::Layer;
using model::SiteQuery;
using model::SiteRow;

namespace {

/// Ten steps on 20 lines and two threads; some blocks are named, some freed; a little driver memory.
struct Run : StepFeed {
  explicit Run(uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<uint64_t> live;
    uint64_t next = 1;
    for (int i = 0; i < 3000; ++i) {
      const uint32_t choice = random() % 100;
      if (choice < 25 && !live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        free(live.back());
        live.pop_back();
      } else if (choice < 55 && !live.empty()) {
        static const char *const kNames[] = {"encoder.weight", "encoder.bias", "Adam.exp_avg", ""};
        const auto category = static_cast<uint8_t>(random() % (GMT_CATEGORY_WORKSPACE + 1));
        put_name({sequence(), live[random() % live.size()], 0, category, kNames[random() % 4]});
      } else if (choice < 60) {
        put({GMT_DEVICE_ALLOC, 1'000'000 + next++ * 1000, 1 + random() % 5000, 0, 1,
             1 + static_cast<uint32_t>(random() % 20)});
      } else {
        put({GMT_TENSOR_ALLOC, next, 1 + random() % 5000, 0, static_cast<uint16_t>(random() % 2),
             1 + static_cast<uint32_t>(random() % 20)});
        live.push_back(next++);
      }
      if (i % 300 == 299) end_step();
    }
  }
  std::vector<AllocationRow> all(AllocationQuery query = {}) {
    query.to = 100'000;
    return model.allocations(query).rows;
  }
  uint32_t line_of(const AllocationRow &row) { return model.site(row.site)->stack.frames[0].line; }
};

using Matches = std::function<bool(const AllocationRow &)>;

void check_blocks(Run &run, const AllocationQuery &query, const Matches &matches) {
  std::map<uint64_t, uint64_t> expected, got;
  int64_t sum = 0;
  for (const AllocationRow &row : run.all()) {
    if (!matches(row)) continue;
    expected[row.address] = row.bytes;
    sum += static_cast<int64_t>(row.bytes);
  }
  for (const AllocationRow &row : run.all(query)) got[row.address] = row.bytes;
  CHECK(!expected.empty());
  CHECK(got == expected);
  CHECK_EQ(run.model.allocations(query).sum_bytes, sum);
}

void check_sites(Run &run, SiteQuery query, const Matches &matches, bool by_thread = false) {
  std::map<uint32_t, std::pair<int64_t, int64_t>> expected;
  for (const AllocationRow &row : run.all()) {
    if (row.layer != query.layer || !matches(row)) continue;
    auto &sum = expected[by_thread ? row.thread : run.line_of(row)];
    sum.first += static_cast<int64_t>(row.bytes);
    ++sum.second;
  }
  CHECK(!expected.empty());
  query.to = 1000;
  const auto rows = run.sites(query);
  CHECK_EQ(rows.total, expected.size());
  for (const SiteRow &row : rows.rows) {
    const auto &sum = expected[by_thread ? static_cast<uint32_t>(row.thread) : row.line];
    CHECK_EQ(row.live_bytes, sum.first);
    CHECK_EQ(row.live_count, sum.second);
    CHECK(row.has_history);
    CHECK(row.allocations >= static_cast<uint64_t>(row.live_count));
  }
}

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(the_block_at_an_address) {
  Run run(2);
  for (const AllocationRow &one : run.all()) {
    AllocationQuery query;
    query.address = std::to_string(one.address);
    check_blocks(run, query, [&](const AllocationRow &row) { return row.address == one.address; });
  }
  AllocationQuery none;
  none.address = "0xffffffffffff";
  CHECK_EQ(run.model.allocations(none).total, 0u);
}

TEST(blocks_born_in_a_span) {
  Run run(1);
  AllocationQuery blocks;
  SiteQuery sites;
  for (const auto &[from, to] : {std::pair<uint64_t, uint64_t>{0, 700'000'000},
                                 {700'000'000, 701'000'001},
                                 {900'000'000, 2'000'000'000},
                                 {2'000'000'000, ~0ull}}) {
    const Matches matches = [&](const AllocationRow &row) { return row.time_ns >= from && row.time_ns < to; };
    blocks.births = sites.births = {from, to};
    check_blocks(run, blocks, matches);
  }
  const Matches late = [](const AllocationRow &row) { return row.time_ns >= 1'500'000'000; };
  sites.births = {1'500'000'000, ~0ull};
  check_sites(run, sites, late);
  sites.group_by = GroupBy::Thread;
  check_sites(run, sites, late, true);
  sites.group_by = GroupBy::Site;
  sites.layer = Layer::Driver;
  check_sites(run, sites, late);
}

TEST(a_span_has_its_begin_and_not_its_end) {
  Run run(2);
  const AllocationRow one = run.all()[7];
  AllocationQuery query;
  query.births = {one.time_ns, one.time_ns + 1};
  CHECK_EQ(run.all(query).size(), 1u);
  query.births = {one.time_ns - 1, one.time_ns};
  CHECK(run.all(query).empty() || run.all(query)[0].address != one.address);
}

TEST(rows_without_such_a_block_are_left_out_unless_asked_for) {
  Run run(3);
  SiteQuery query;
  query.births = {run.now_ns, ~0ull};
  CHECK_EQ(run.sites(query).total, 0u);
  query.include_dead = true;
  CHECK_EQ(run.sites(query).total, 20u);
  CHECK_EQ(run.sites(query).sum_live_bytes, 0);
}

TEST(windows_of_many_blocks_are_parts_of_all_in_order) {
  constexpr size_t kBlocks = 20'000;
  std::mt19937 random(7);
  const std::function<uint64_t()> sizes[] = {
      [&] { return 1 + random() % 1'000'000; }, [] { return uint64_t{512}; },
      [&] { return random() % kBlocks == 0 ? 40'000'000'000 : 1 + random() % 100; }, [&] { return 1 + random() % 2; }};
  for (const auto &size : sizes) {
    StepFeed run;
    for (uint32_t i = 0; i < kBlocks; ++i) {
      run.put({GMT_TENSOR_ALLOC, 512 * (1 + i * 7919ull % kBlocks), size(), 0, 0, 1 + i % 20});
      if (i % 500 == 0) run.put({GMT_DEVICE_ALLOC, 1'000'000'000 + i, size(), 0, 0, 1});
      if (i % 3000 == 2999) run.end_step();
    }
    for (const AllocationSort sort : {AllocationSort::Bytes, AllocationSort::Age, AllocationSort::Address}) {
      for (const bool descending : {false, true}) {
        AllocationQuery query;
        query.sort = sort;
        query.descending = descending;
        query.to = kBlocks * 2;
        const auto all = run.model.allocations(query).rows;
        for (const auto &[from, to] :
             {std::pair<size_t, size_t>{0, 60}, {9'990, 10'050}, {20'030, 20'100}, {50, 8'000}}) {
          query.from = from;
          query.to = to;
          const auto window = run.model.allocations(query);
          CHECK_EQ(window.total, all.size());
          CHECK_EQ(window.rows.size(), std::min(to, all.size()) - from);
          for (size_t i = 0; i < window.rows.size(); ++i) CHECK_EQ(window.rows[i].address, all[from + i].address);
        }
      }
    }
  }
}

TEST(bounds_of_age_may_lie_between_steps) {
  Run run(5);
  AllocationQuery blocks;
  blocks.filter = "age>3.5";
  check_blocks(run, blocks, [](const AllocationRow &row) { return row.age_steps > 3; });
  blocks.filter = "age<3.5";
  check_blocks(run, blocks, [](const AllocationRow &row) { return row.age_steps <= 3; });
  blocks.filter = "age<=99999999999";
  check_blocks(run, blocks, [](const AllocationRow &) { return true; });
  blocks.filter = "age<0";
  CHECK(run.all(blocks).empty());
  blocks.filter = "age>99999999999";
  CHECK(run.all(blocks).empty());
}

TEST(ages_and_sizes) {
  Run run(4);
  AllocationQuery blocks;
  blocks.filter = "age>5steps >2kB";
  check_blocks(run, blocks, [](const AllocationRow &row) { return row.age_steps > 5 && row.bytes > 2048; });
  blocks.filter = "age<=2 age>=2 <=2k";
  check_blocks(run, blocks, [](const AllocationRow &row) { return row.age_steps == 2 && row.bytes <= 2048; });
  SiteQuery sites;
  sites.filter = "age<3steps";
  check_sites(run, sites, [](const AllocationRow &row) { return row.age_steps < 3; });
  sites.filter = "age>8";
  check_sites(run, sites, [](const AllocationRow &row) { return row.age_steps > 8; });
}

TEST(bounds_on_bytes_are_on_the_bytes_of_the_blocks_that_count) {
  Run run(5);
  SiteQuery query;
  query.filter = "age<3";
  query.to = 1000;
  const auto all = run.sites(query);
  const int64_t middle = all.rows[all.rows.size() / 2].live_bytes;
  query.filter = "age<3 >" + std::to_string(middle);
  CHECK_EQ(run.sites(query).total, all.rows.size() / 2);
}

TEST(names_and_categories_are_found) {
  Run run(6);
  AllocationQuery blocks;
  blocks.filter = "Encoder";
  check_blocks(run, blocks, [](const AllocationRow &row) { return has(row.name, "encoder"); });
  blocks.filter = "encoder grad";
  check_blocks(run, blocks, [](const AllocationRow &row) {
    return has(row.name, "encoder") && row.category == GMT_CATEGORY_GRADIENT;
  });
  blocks.filter = "unnamed python:101";
  check_blocks(run, blocks,
               [](const AllocationRow &row) { return row.category == model::kUnnamed && row.thread == 1; });
  blocks.filter = "train.py";
  check_blocks(run, blocks, [](const AllocationRow &) { return true; });
  blocks.filter = "";
  blocks.filter = "nowhere";
  CHECK(run.all(blocks).empty());
}

TEST(a_site_is_found_by_the_name_of_a_live_block_and_keeps_all_its_blocks) {
  StepFeed feed;
  feed.allocate(1, 100, 1);
  feed.allocate(2, 200, 1);
  feed.allocate(3, 400, 2);
  feed.put_name({feed.sequence(), 1, 0, GMT_CATEGORY_PARAMETER, "Encoder.weight"});
  feed.put_name({feed.sequence(), 3, 0, GMT_CATEGORY_OPTIMIZER, "decoder.weight"});
  SiteQuery query;
  const auto rows = [&](const char *filter) {
    query.filter = filter;
    return feed.sites(query);
  };
  CHECK_EQ(rows("encoder").total, 1u);
  CHECK_EQ(rows("encoder").rows[0].live_bytes, 300);
  CHECK_EQ(rows("weight step").total, 2u);
  CHECK_EQ(rows("parameter").sum_live_bytes, 300);
  CHECK_EQ(rows("unnamed").total, 0u);
  query.group_by = GroupBy::Line;
  const SiteRow first = rows("").rows[0];
  CHECK_EQ(rows(first.label.c_str()).total, 1u);
  CHECK_EQ(rows(first.label.c_str()).rows[0].label, first.label);
  feed.free(1);
  CHECK_EQ(rows("encoder").total, 0u);
}

TEST(groups_by_category_are_what_lives) {
  Run run(7);
  std::map<std::string, std::pair<int64_t, int64_t>> expected;
  for (const AllocationRow &row : run.all()) {
    if (row.layer != Layer::Tensor) continue;
    auto &sum = expected[model::category_name(row.category)];
    sum.first += static_cast<int64_t>(row.bytes);
    ++sum.second;
  }
  CHECK(expected.size() > 4);
  SiteQuery query;
  query.group_by = GroupBy::Category;
  const auto rows = run.sites(query);
  CHECK_EQ(rows.total, expected.size());
  for (const SiteRow &row : rows.rows) {
    CHECK_EQ(row.live_bytes, expected[row.label].first);
    CHECK_EQ(row.live_count, expected[row.label].second);
    CHECK(!row.has_history);
  }
  query.layer = Layer::Driver;
  REQUIRE(run.sites(query).total == 1);
  CHECK_EQ(run.sites(query).rows[0].label, "unnamed");
}

TEST_MAIN
