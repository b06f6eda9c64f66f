// Sites and rows: merging, grouping, sorting, filters, growth.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "check.h"
#include "model/query/filter.h"
#include "model_fixture.h"

using namespace gmt::test;
using gmt::model::Filter;
using gmt::model::GroupBy;
using gmt::model::SiteQuery;
using gmt::model::SiteRow;
using gmt::model::SiteSort;

TEST(stacks_with_equal_lines_are_one_site) {
  Feed feed;
  feed.names.set(1, {{"a.py", 3, "f"}, {"main.py", 9, "main"}});
  feed.names.set(2, {{"a.py", 3, "f"}, {"main.py", 9, "main"}});
  feed.names.set(3, {{"a.py", 3, "f"}, {"main.py", 10, "main"}});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100, 0, 0, 1});
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 200, 0, 0, 2});
  feed.put({GMT_TENSOR_ALLOC, 0x3000, 400, 0, 0, 3});
  feed.put({GMT_TENSOR_FREE, 0x1000});
  const auto rows = feed.sites();
  REQUIRE(rows.total == 2);
  CHECK_EQ(rows.rows[0].live_bytes, 400);
  CHECK_EQ(rows.rows[1].live_bytes, 200);
  CHECK_EQ(rows.rows[1].peak_bytes, 300);
  CHECK_EQ(rows.rows[1].allocations, 2u);
  CHECK_EQ(rows.sum_live_bytes, 600);
  SiteQuery lines;
  lines.group_by = GroupBy::Line;
  REQUIRE(feed.sites(lines).total == 1);
  CHECK_EQ(feed.sites(lines).rows[0].live_bytes, 600);
  CHECK_EQ(feed.sites(lines).rows[0].label, "a.py:3");
}

TEST(a_stack_that_is_known_later_is_merged_then) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100, 0, 0, 1});
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 200, 0, 0, 2});
  CHECK_EQ(feed.sites().total, 2u);
  CHECK_EQ(feed.sites().rows[0].file, "");
  feed.names.set(1, {{"a.py", 3, "f"}});
  feed.names.set(2, {{"a.py", 3, "f"}});
  const auto rows = feed.sites();
  REQUIRE(rows.total == 1);
  CHECK_EQ(rows.rows[0].live_bytes, 300);
  CHECK_EQ(rows.rows[0].line, 3u);
  feed.put({GMT_TENSOR_FREE, 0x1000});
  feed.put({GMT_TENSOR_FREE, 0x2000});
  CHECK_EQ(feed.sites().total, 0u);
  CHECK_EQ(feed.totals(gmt::model::Layer::Tensor).live_bytes, 0);
  CHECK_EQ(feed.model.site(1)->id, feed.model.site(0)->id);
}

TEST(several_threads_and_devices_of_a_site_are_minus_one) {
  Feed feed;
  feed.names.set(1, {{"a.py", 3, "f"}});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100, 0, 1, 1});
  CHECK_EQ(feed.sites().rows[0].thread, 1);
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 100, 0, 2, 1});
  CHECK_EQ(feed.sites().rows[0].thread, -1);
  CHECK_EQ(feed.sites().rows[0].device, 0);
  feed.put({GMT_TENSOR_ALLOC, 0x3000, 100, 1, 2, 1});
  CHECK_EQ(feed.sites().rows[0].device, -1);
  CHECK_EQ(feed.sites().rows[0].peak_bytes, 300);
  CHECK_EQ(feed.sites().total, 1u);
}

TEST(the_users_frame_names_the_row) {
  Feed feed;
  feed.names.set(1, {{"/site-packages/torch/nn/linear.py", 100, "forward"}, {"net.py", 20, "forward"}});
  feed.names.set(2, {{"/site-packages/x.py", 5, "g"}});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 200, 0, 0, 1});
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 100, 0, 0, 2});
  feed.put({GMT_TENSOR_ALLOC, 0x3000, 50});
  const auto rows = feed.sites().rows;
  REQUIRE(rows.size() == 3);
  CHECK_EQ(rows[0].file, "net.py");
  CHECK_EQ(rows[0].line, 20u);
  CHECK_EQ(rows[1].file, "/site-packages/x.py");
  CHECK_EQ(rows[2].file, "");
  CHECK_EQ(rows[2].line, 0u);
  CHECK_EQ(rows[2].label, "no Python line");
  CHECK(rows[2].source == gmt::model::LineSource::None);
}

TEST(words_and_bounds_are_read) {
  const auto passes = [](const char *text, double bytes) { return Filter(text).bytes_match(bytes); };
  CHECK(passes("", 0));
  CHECK(passes(">10MB", 10.0 * (1 << 20) + 1));
  CHECK(!passes(">10MB", 10.0 * (1 << 20)));
  CHECK(passes(">=10mib", 10.0 * (1 << 20)));
  CHECK(passes("<1.5k", 1535));
  CHECK(!passes("<1.5k", 1536));
  CHECK(passes(">1gb <3GB", 2.0 * (1 << 30)));
  CHECK(!passes(">1gb <3GB", 3.0 * (1 << 30)));
  CHECK(Filter(">lots").has_words());
  CHECK(!Filter(">5 ").has_words());
  CHECK(Filter("Net FORWARD").words_in({"src/net.py", "forward"}) == 3);
  CHECK(Filter("net backward").words_in({"src/net.py", "forward"}) == 1);
  CHECK(Filter("age>5steps").has_ages());
  CHECK(!Filter("age>5steps").has_words());
  CHECK(Filter("AGE>=5 age<7step").age_matches(5));
  CHECK(!Filter("age>5").age_matches(5));
  CHECK(!Filter("age<7").age_matches(7));
  CHECK(Filter("age>5MB").has_words());
  CHECK(Filter("agenda").has_words());
}

TEST(growth_is_the_slope_and_spark_the_shape) {
  Feed feed;
  feed.names.set(1, {{"leak.py", 1, "f"}});
  feed.names.set(2, {{"flat.py", 1, "f"}});
  feed.step_ns = 5'000'000;
  feed.put({GMT_TENSOR_ALLOC, 1, 1'000'000, 0, 0, 2});
  for (uint64_t i = 0; i < 2000; ++i) feed.put({GMT_TENSOR_ALLOC, 0x1000 + i, 1000, 0, 0, 1});  // 200 kB/s for 10 s
  const auto rows = feed.sites().rows;
  REQUIRE(rows.size() == 2);
  const SiteRow &leak = rows[0], &flat = rows[1];
  CHECK_EQ(leak.file, "leak.py");
  CHECK(std::abs(leak.growth - 200'000) < 2'000);
  CHECK(std::abs(flat.growth) < 1);
  CHECK_EQ(flat.spark[0], 1'000'000.0);
  CHECK_EQ(leak.spark[15], 2'000'000.0);
  for (int i = 0; i < 16; ++i) CHECK(std::abs(leak.spark[i] - 2'000'000.0 * i / 15) < 70'000);
}

namespace {

struct Part {  // one maker of allocations
  uint32_t process;
  uint8_t device;
  uint16_t thread;
  uint32_t stack;
  int64_t live = 0, count = 0;
  uint64_t allocations = 0, frees = 0, allocated = 0;
};

/// A random run over 2 processes, 2 devices, 3 threads, 60 stacks of which always two are equal.
struct RandomRun : Feed {
  std::vector<Part> parts;
  std::map<uint32_t, std::pair<int64_t, int64_t>> lines;  ///< by number: live and highest live bytes
  explicit RandomRun(uint32_t seed) {
    std::mt19937 random(seed);
    for (uint32_t process = 0; process < 2; ++process) {
      for (uint32_t stack = 1; stack <= 60; ++stack) names.set(stack, {frame(stack)}, process);
    }
    for (uint32_t i = 0; i < 240; ++i) {
      parts.push_back({i % 2, static_cast<uint8_t>(i / 2 % 2), static_cast<uint16_t>(i / 4 % 3), 1 + i % 60});
    }
    std::vector<std::pair<Part *, Step>> live;
    for (uint64_t i = 1; i <= 5000; ++i) {
      if (live.size() > 20 && random() % 5 < 2) {
        std::swap(live[random() % live.size()], live.back());
        auto [part, step] = live.back();
        live.pop_back();
        part->live -= static_cast<int64_t>(step.bytes), --part->count, ++part->frees;
        count(*part, -static_cast<int64_t>(step.bytes));
        step.kind = GMT_TENSOR_FREE;
        put(step, part->process);
        continue;
      }
      Part &part = parts[random() % parts.size()];
      const Step step{GMT_TENSOR_ALLOC, i, 1 + random() % 5000, part.device, part.thread, part.stack};
      part.live += static_cast<int64_t>(step.bytes), ++part.count, ++part.allocations;
      part.allocated += step.bytes;
      count(part, static_cast<int64_t>(step.bytes));
      put(step, part.process);
      live.emplace_back(&part, step);
    }
  }
  void count(const Part &part, int64_t bytes) {
    auto &[live, peak] = lines[frame(part.stack).line];
    live += bytes;
    peak = std::max(peak, live);
  }
  static gmt::model::Frame frame(uint32_t stack) {
    const uint32_t line = (stack + 1) / 2;
    return {"file" + std::to_string(line % 5) + ".py", line, line % 3 ? "forward" : "loss"};
  }
};

std::string group_of(GroupBy by, const Part &part) {
  const auto frame = RandomRun::frame(part.stack);
  const std::string line = frame.file + ":" + std::to_string(frame.line);
  const std::string process = std::to_string(part.process);
  switch (by) {
    case GroupBy::Site:
      return process + "/" + line;
    case GroupBy::Line:
      return line;
    case GroupBy::Function:
      return frame.file + frame.function;
    case GroupBy::File:
      return frame.file;
    case GroupBy::Thread:
      return process + "/" + std::to_string(part.thread);
    case GroupBy::Process:
      return process;
    case GroupBy::Device:
      return std::to_string(part.device);
    case GroupBy::ModulePath:
      return part.stack % 3 == 0 ? "(no module)" : "layers." + std::to_string(part.stack % 3);
    case GroupBy::Category:
      break;
  }
  return "";
}

std::string group_of(GroupBy by, const SiteRow &row) {
  const std::string line = row.file + ":" + std::to_string(row.line);
  switch (by) {
    case GroupBy::Site:
      return std::to_string(row.process) + "/" + line;
    case GroupBy::Line:
      return line;
    case GroupBy::Function:
      return row.file + row.function;
    case GroupBy::File:
      return row.label;
    case GroupBy::Thread:
      return std::to_string(row.process) + "/" + std::to_string(row.thread);
    case GroupBy::Process:
      return std::to_string(row.process);
    case GroupBy::Device:
      return std::to_string(row.device);
    case GroupBy::ModulePath:
      return row.label;
    case GroupBy::Category:
      break;
  }
  return "";
}

void check_rows(RandomRun &run, SiteQuery query, const std::function<bool(const Part &)> &matches) {
  std::map<std::string, Part> groups;
  for (const Part &part : run.parts) {
    if (!matches(part)) continue;
    Part &group = groups[group_of(query.group_by, part)];
    group.live += part.live, group.count += part.count;
    group.allocations += part.allocations, group.frees += part.frees, group.allocated += part.allocated;
  }
  const int64_t least = query.filter.find(">20KB") != std::string::npos ? 20 * 1024 : -1;
  std::erase_if(groups, [&](const auto &entry) {
    return (!query.include_dead && entry.second.count == 0) || entry.second.live <= least;
  });
  query.to = 1000;
  const auto rows = run.sites(query);
  CHECK_EQ(rows.total, groups.size());
  REQUIRE(rows.rows.size() == groups.size());
  for (const SiteRow &row : rows.rows) {
    const auto found = groups.find(group_of(query.group_by, row));
    REQUIRE(found != groups.end());
    CHECK_EQ(row.live_bytes, found->second.live);
    CHECK_EQ(row.live_count, found->second.count);
    if (query.group_by == GroupBy::ModulePath) continue;  // of their past nothing is told
    CHECK_EQ(row.allocations, found->second.allocations);
    CHECK_EQ(row.frees, found->second.frees);
    CHECK_EQ(row.allocated_bytes, found->second.allocated);
    CHECK(row.peak_bytes >= row.live_bytes);
    const bool all = query.filter.empty() && query.process == gmt::model::kAll && !query.device;
    if (query.group_by == GroupBy::Line && all) CHECK_EQ(row.peak_bytes, run.lines[row.line].second);
  }
  // A window is a part of the whole.
  query.from = rows.rows.size() / 3;
  query.to = query.from + 3;
  const auto window = run.sites(query);
  CHECK_EQ(window.sum_live_bytes, rows.sum_live_bytes);
  for (size_t i = 0; i < window.rows.size(); ++i) CHECK_EQ(window.rows[i].label, rows.rows[query.from + i].label);
}

}  // namespace

TEST(groups_filters_and_windows_equal_a_plain_count) {
  RandomRun run(1);
  for (const GroupBy by : {GroupBy::Site, GroupBy::Line, GroupBy::Function, GroupBy::File, GroupBy::Thread,
                           GroupBy::Process, GroupBy::Device, GroupBy::ModulePath}) {
    SiteQuery query;
    query.group_by = by;
    check_rows(run, query, [](const Part &) { return true; });
    query.include_dead = true;
    check_rows(run, query, [](const Part &part) { return part.allocations > 0; });
    query.filter = "FILE2 >20KB";
    check_rows(run, query, [](const Part &part) { return RandomRun::frame(part.stack).file == "file2.py"; });
    query.filter = "python:101 loss";
    check_rows(run, query, [](const Part &part) {
      return part.thread == 1 && part.allocations > 0 && RandomRun::frame(part.stack).function == "loss";
    });
    query.filter = "gpu_1";
    check_rows(run, query, [](const Part &part) { return part.device == 1 && part.allocations > 0; });
    query.filter = "";
    query.process = 1;
    query.device = 1;
    check_rows(run, query,
               [](const Part &part) { return part.device == 1 && part.process == 1 && part.allocations > 0; });
  }
}

TEST(every_sort_orders_the_rows) {
  RandomRun run(2);
  const std::vector<std::pair<SiteSort, std::function<double(const SiteRow &)>>> sorts = {
      {SiteSort::LiveBytes, [](const SiteRow &row) { return static_cast<double>(row.live_bytes); }},
      {SiteSort::LiveCount, [](const SiteRow &row) { return static_cast<double>(row.live_count); }},
      {SiteSort::MeanBytes, [](const SiteRow &row) { return 1.0 * row.live_bytes / row.live_count; }},
      {SiteSort::PeakBytes, [](const SiteRow &row) { return static_cast<double>(row.peak_bytes); }},
      {SiteSort::Allocations, [](const SiteRow &row) { return static_cast<double>(row.allocations); }},
      {SiteSort::Frees, [](const SiteRow &row) { return static_cast<double>(row.frees); }},
      {SiteSort::Growth, [](const SiteRow &row) { return row.growth; }},
      {SiteSort::AllocatedBytes, [](const SiteRow &row) { return static_cast<double>(row.allocated_bytes); }},
      {SiteSort::Label, [](const SiteRow &row) { return std::stoi(row.file.substr(4)) * 1000.0 + row.line; }},
      {SiteSort::Thread, [](const SiteRow &row) { return row.process * 65536.0 + row.thread; }},
      {SiteSort::Device, [](const SiteRow &row) { return static_cast<double>(row.device); }},
  };
  for (const auto &[sort, value] : sorts) {
    for (const bool descending : {false, true}) {
      SiteQuery query;
      query.sort = sort;
      query.descending = descending;
      const auto rows = run.sites(query).rows;
      for (size_t i = 1; i < rows.size(); ++i) {
        const double before = value(rows[i - 1]), after = value(rows[i]);
        CHECK(descending ? before >= after : before <= after);
        if (before == after) CHECK(rows[i - 1].id < rows[i].id);
      }
    }
  }
}

TEST(blocks_are_filtered_and_sorted) {
  RandomRun run(3);
  gmt::model::AllocationQuery query;
  query.process = 1;
  query.device = 0;
  query.thread = 2;
  query.to = 10'000;
  int64_t bytes = 0, count = 0;
  for (const Part &part : run.parts) {
    if (part.process != 1 || part.device != 0 || part.thread != 2) continue;
    bytes += part.live;
    count += part.count;
  }
  const auto rows = run.blocks(query);
  CHECK_EQ(rows.sum_bytes, bytes);
  CHECK_EQ(static_cast<int64_t>(rows.rows.size()), count);
  for (size_t i = 1; i < rows.rows.size(); ++i) CHECK(rows.rows[i - 1].bytes >= rows.rows[i].bytes);
  query.sort = gmt::model::AllocationSort::Age;
  const auto oldest = run.blocks(query).rows;
  for (size_t i = 1; i < oldest.size(); ++i) CHECK(oldest[i - 1].time_ns <= oldest[i].time_ns);
  query.from = 5;
  query.to = 9;
  const auto window = run.blocks(query).rows;
  REQUIRE(window.size() == 4);
  for (size_t i = 0; i < 4; ++i) CHECK_EQ(window[i].address, oldest[5 + i].address);
}

TEST(a_row_of_a_process_or_device_has_the_exact_peak) {
  Feed feed;
  feed.names.set(1, {{"a.py", 1, "f"}});
  feed.names.set(2, {{"a.py", 2, "f"}});
  feed.step_ns = 1000;  // much shorter than a span
  feed.put({GMT_TENSOR_ALLOC, 1, 100, 0, 0, 1});
  feed.put({GMT_TENSOR_ALLOC, 2, 100, 0, 0, 2});
  feed.put({GMT_TENSOR_FREE, 1});
  SiteQuery query;
  query.group_by = GroupBy::Device;
  CHECK_EQ(feed.sites(query).rows[0].peak_bytes, 200);
  query.group_by = GroupBy::Process;
  CHECK_EQ(feed.sites(query).rows[0].peak_bytes, 200);
}

TEST(a_row_of_a_line_has_the_exact_peak_of_all_its_stacks) {
  Feed feed;
  feed.names.set(1, {{"a.py", 1, "f"}});
  feed.names.set(2, {{"a.py", 1, "f"}, {"a.py", 9, "main"}});
  feed.step_ns = 1000;  // much shorter than a span
  const auto peak = [&](const char *filter = "") {
    SiteQuery query;
    query.group_by = GroupBy::Line;
    query.filter = filter;
    return feed.sites(query).rows[0].peak_bytes;
  };
  for (uint64_t i = 0; i < 10; ++i) {
    feed.put({GMT_TENSOR_ALLOC, 1, 100, 0, 0, 1});
    feed.put({GMT_TENSOR_ALLOC, 2, 30, 0, 0, 2});
    feed.put({GMT_TENSOR_FREE, 1});
    feed.put({GMT_TENSOR_ALLOC, 3, 50, 0, 0, 2});
    feed.put({GMT_TENSOR_FREE, 3});
    feed.put({GMT_TENSOR_FREE, 2});
  }
  feed.put({GMT_TENSOR_ALLOC, 1, 40, 0, 0, 1});
  CHECK_EQ(peak(), 130);
  // Stacks that are named later had their events apart until then.
  feed.put({GMT_TENSOR_ALLOC, 4, 200, 0, 0, 3});
  CHECK_EQ(peak("a.py"), 130);
  feed.names.set(3, {{"a.py", 1, "f"}, {"a.py", 10, "other"}});
  feed.put({GMT_TENSOR_ALLOC, 5, 7, 0, 0, 3});
  CHECK_EQ(peak(), 247);
}

TEST_MAIN
