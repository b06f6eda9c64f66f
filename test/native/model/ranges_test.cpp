// Ranges that a program names: their state, how it stays bounded, and what is asked of it.
#include "check.h"
#include "model_fixture.h"

using namespace gmt;
using namespace gmt::test;

namespace {

class RangeFeed : public Feed {
 public:
  void put_range(uint64_t time_ns, uint32_t key, const std::string &name = "", uint32_t thread = 0) {
    const trace::Range range{time_ns, thread, key, name};
    model.ingest({.process = 0, .records = {.ranges = {&range, 1}}});
  }
  /// `name thread begin-end`, in the order of the answer.
  std::string listed(uint64_t from_ns = 0, uint64_t to_ns = 1000, uint64_t least_ns = 0) {
    std::string out;
    for (const model::Range &one : model.ranges({0, from_ns, to_ns, least_ns})) {
      const std::string end = one.end_ns == ~0ull ? "" : std::to_string(one.end_ns);
      out += (out.empty() ? "" : ", ") + one.name + " " + std::to_string(one.begin_ns) + "-" + end;
    }
    return out;
  }
};

}  // namespace

TEST(ranges_nest_and_are_asked_for_by_time) {
  RangeFeed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512});
  feed.put_range(10, 0, "step");
  feed.put_range(10, 1, "forward");
  feed.put_range(15, 0, "loader", 1);
  feed.put_range(20, 1);
  feed.put_range(20, 1, "backward");
  CHECK_EQ(feed.listed(), "step 10-, forward 10-20, loader 15-, backward 20-");
  CHECK_EQ(feed.listed(19, 20), "step 10-, forward 10-20, loader 15-");
  CHECK_EQ(feed.listed(20, 21), "step 10-, loader 15-, backward 20-");
  CHECK_EQ(feed.listed(0, 10), "");
  feed.put_range(30, 1);
  feed.put_range(31, 0);
  CHECK_EQ(feed.listed(), "step 10-31, forward 10-20, loader 15-, backward 20-30");
  CHECK_EQ(feed.listed(0, 40, 11), "step 10-31, loader 15-");
  CHECK_EQ(feed.listed(31, 40), "loader 15-");
  CHECK(feed.model.ranges({7, 0, 1000, 0}).empty());
}

TEST(a_lost_end_takes_nothing_with_it) {
  RangeFeed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512});
  feed.put_range(10, 0, "a");
  feed.put_range(11, 1, "b");
  feed.put_range(12, 2, "c");
  feed.put_range(20, 1);  // that of c was lost
  feed.put_range(21, 1, "d");
  feed.put_range(30, 0, "e");  // those of d and a were
  feed.put_range(31, 5);       // a begin was lost
  CHECK_EQ(feed.listed(), "a 10-30, b 11-20, c 12-20, d 21-30, e 30-");
}

TEST(a_started_range_is_ended_by_any_thread) {
  RangeFeed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512});
  feed.put_range(10, 0, "pushed");
  feed.put_range(11, GMT_RANGE_STARTED | 1, "first");
  feed.put_range(12, GMT_RANGE_STARTED | 2, "second");
  feed.put_range(20, 0);
  feed.put_range(21, GMT_RANGE_STARTED | 1, "", 7);
  CHECK_EQ(feed.listed(), "pushed 10-20, first 11-21, second 12-");
}

TEST(what_is_kept_of_ranges_is_bounded) {
  using model::Ranges;
  RangeFeed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512});
  feed.put_range(1, 0, "step");
  for (uint64_t i = 0; i < 2 * Ranges::kEnded; ++i) {
    feed.put_range(10 + i, 1, "layer");
    for (uint32_t key = 2; key < 6; ++key) feed.put_range(10 + i, key, "op");
    feed.put_range(11 + i, 1);
  }
  feed.put_range(5000, 0);
  const auto count = [&](std::string_view name) {
    const auto all = feed.model.ranges({0, 0, 9999, 0});
    return static_cast<size_t>(std::ranges::count_if(all, [&](const model::Range &one) { return one.name == name; }));
  };
  CHECK_EQ(count("step"), 1u);
  CHECK_EQ(count("layer"), Ranges::kEnded);
  CHECK_EQ(count("op"), 2 * Ranges::kEnded);  // of the third level, and of all deeper ones
  for (uint32_t i = 0; i < 2 * Ranges::kOpen; ++i) feed.put_range(6000 + i, GMT_RANGE_STARTED | i, "open");
  CHECK_EQ(count("open"), Ranges::kOpen);
  feed.put_range(9000, GMT_RANGE_STARTED | (2 * Ranges::kOpen - 1));
  CHECK_EQ(count("open"), Ranges::kOpen);
}
