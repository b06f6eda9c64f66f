// A device's segments and blocks in address order.
#include <map>
#include <random>

#include "check.h"
#include "model_fixture.h"

using namespace gmt;
using namespace gmt::model;
using namespace gmt::test;
using model::SegmentMap;
using model::SegmentQuery;

namespace {

constexpr uint64_t kMb = 1u << 20;

/// What PyTorch's allocator reports when it takes a segment.
void take_segment(Feed &feed, uint64_t address, uint64_t bytes, uint64_t &reserved, uint32_t stack = 1) {
  feed.put({GMT_DEVICE_ALLOC, address, bytes, 0, 0, stack});
  reserved += bytes;
  feed.put({GMT_RESERVED, 0, reserved});
}

struct TwoSegments : Feed {
  uint64_t reserved = 0;
  TwoSegments() {
    names.set(1, {{"a.py", 1, "f"}});
    names.set(2, {{"a.py", 2, "f"}});
    take_segment(*this, 200 * kMb, 20 * kMb, reserved, 1);
    take_segment(*this, 100 * kMb, 2 * kMb, reserved, 2);
    put({GMT_TENSOR_ALLOC, 200 * kMb, 5 * kMb, 0, 0, 2});
    put({GMT_TENSOR_ALLOC, 212 * kMb, 1 * kMb, 0, 0, 1});
    put({GMT_TENSOR_ALLOC, 100 * kMb, 512, 0, 0, 1});
  }
};

}  // namespace

TEST(segments_by_pool) {
  TwoSegments feed;
  const auto live = [&] {
    model::SiteQuery query;
    query.group_by = model::GroupBy::Pool;
    query.include_dead = true;
    std::map<std::string, int64_t> found;
    for (const model::SiteRow &row : feed.model.sites(query).rows) found[row.label] = row.live_bytes;
    return found;
  };
  using Live = std::map<std::string, int64_t>;
  CHECK(feed.model.pools().empty());
  CHECK(live() == (Live{{"unknown pool", 6 * kMb + 512}}));
  feed.put_pool(7, {0, 1, 0, 0, GMT_POOL_GRAPH, 2, 0, 0, 0}, "graphs[...]", {200 * kMb});
  CHECK(feed.model.pools().empty());  // there may be more
  feed.put_pool(7, {0, 0, 0, 0, GMT_POOL_NO_MORE, 0, 0, 0, 0}, "", {});
  const std::string graphs = "pool 1:0 (2 captured graphs: graphs[...])";
  CHECK(live() == (Live{{"common pool", 512}, {graphs, 6 * kMb}}));
  take_segment(feed, 300 * kMb, 2 * kMb, feed.reserved);
  feed.put({GMT_TENSOR_ALLOC, 300 * kMb, 1024, 0, 0, 1});
  const auto rows = feed.model.pools();
  REQUIRE(rows.size() == 3);
  CHECK_EQ(rows[0].label, "common pool");
  CHECK_EQ(rows[0].reserved_bytes, 2 * kMb);
  CHECK_EQ(rows[1].label, graphs);
  CHECK_EQ(rows[1].reserved_bytes, 20 * kMb);
  CHECK_EQ(rows[1].live_bytes, 6 * kMb);
  CHECK_EQ(rows[1].makers, 2u);
  CHECK_EQ(feed.model.site(rows[1].site)->stack.frames[0].line, 1u);
  CHECK_EQ(rows[2].label, "unknown pool");  // it was taken since
  CHECK_EQ(rows[2].live_bytes, 1024u);
  CHECK_EQ(feed.model.fragmentation(0, 0).segments, 2u);
  const auto blocks = feed.model.allocations({.layer = model::Layer::Tensor}).rows;
  REQUIRE(blocks.size() == 4);
  CHECK_EQ(blocks[0].pool_owner, 1u);
  CHECK_EQ(blocks[2].pool_owner, GMT_UNKNOWN);
  // The graphs are gone, and at the place of their segment is another one.
  feed.put({GMT_TENSOR_FREE, 200 * kMb, 5 * kMb});
  feed.put({GMT_TENSOR_FREE, 212 * kMb, kMb});
  feed.put_pool(12, {0, 1, 0, 0, GMT_POOL_GRAPH, 0, 0, 0, 0}, "", {200 * kMb});
  feed.put_pool(12, {0, 0, 0, 0, GMT_POOL_NO_MORE, 0, 0, 0, 0}, "", {});
  CHECK(live() == (Live{{"common pool", 1536}, {"pool 1:0 (captured graph that is gone)", 0}}));
  feed.put_pool(12, {0, 0, 0, 0, GMT_POOL_NO_MORE, 0, 0, 0, 0}, "", {});
  CHECK(feed.model.pools().empty());
}

TEST(segments_and_blocks_in_address_order) {
  TwoSegments feed;
  const SegmentMap map = feed.model.segments({});
  CHECK(!map.of_driver);
  REQUIRE(map.segments.size() == 2);
  const auto &small = map.segments[0], &big = map.segments[1];
  CHECK_EQ(small.begin, 100 * kMb);
  CHECK_EQ(small.live_bytes, 512u);
  CHECK_EQ(small.largest_gap, 2 * kMb - 512);
  CHECK_EQ(big.end - big.begin, 20 * kMb);
  CHECK_EQ(big.live_bytes, 6 * kMb);
  CHECK_EQ(big.largest_gap, 7 * kMb);
  CHECK_EQ(big.time_ns, 1'000'000u);
  CHECK(!big.mapped);
  CHECK_EQ(feed.model.site(map.sites[0])->stack.frames[0].line, 2u);
  REQUIRE(map.blocks.size() == 3);
  CHECK_EQ(map.blocks[0].segment, 0u);
  CHECK_EQ(map.blocks[1].offset, 0u);
  CHECK_EQ(map.blocks[2].segment, 1u);
  CHECK_EQ(map.blocks[2].offset, 12 * kMb);
  CHECK_EQ(map.blocks[2].bytes, kMb);
  CHECK_EQ(feed.model.site(map.blocks[1].site)->stack.frames[0].line, 2u);
  CHECK_EQ(map.blocks[2].category, model::kUnnamed);
}

TEST(the_map_says_what_the_sums_say) {
  TwoSegments feed;
  std::mt19937 random(1);
  for (uint64_t i = 0; i < 200; ++i) {
    feed.put({GMT_TENSOR_ALLOC, 100 * kMb + random() % 4096 * 512, 512 * (1 + random() % 3)});
  }
  const SegmentMap map = feed.model.segments({});
  const auto sums = feed.model.fragmentation(0, 0);
  uint64_t bytes = 0, longest = 0;
  for (const auto &one : map.segments) {
    bytes += one.end - one.begin;
    longest = std::max(longest, one.largest_gap);
  }
  CHECK_EQ(map.segments.size(), sums.segments);
  CHECK_EQ(bytes, sums.segment_bytes);
  CHECK_EQ(longest, sums.largest_free_bytes);
  CHECK_EQ(map.blocks.size(), feed.blocks().total - 2);
}

TEST(the_smallest_blocks_are_left_out_and_counted) {
  TwoSegments feed;
  for (const size_t most : {size_t{2}, size_t{0}}) {
    const SegmentMap map = feed.model.segments({0, 0, most});
    CHECK_EQ(map.blocks.size(), most);
    CHECK_EQ(map.blocks_left_out, 3 - most);
    CHECK_EQ(map.bytes_left_out, most ? 512u : 6 * kMb + 512);
    CHECK_EQ(map.segments[0].live_bytes, 512u);
    for (const auto &block : map.blocks) CHECK_EQ(block.segment, 1u);
  }
}

TEST(mapped_pieces_that_touch_are_one_segment_of_the_map) {
  Feed feed;
  for (uint64_t i = 0; i < 3; ++i) {
    feed.put({GMT_PHYSICAL_CREATE, 10 + i, 2 * kMb});
    feed.put({GMT_MAP, 300 * kMb + i * 2 * kMb, 2 * kMb}, of_handle(10 + i));
  }
  feed.put({GMT_RESERVED, 0, 6 * kMb});
  feed.put({GMT_TENSOR_ALLOC, 301 * kMb, 4 * kMb});
  const SegmentMap map = feed.model.segments({});
  REQUIRE(map.segments.size() == 1);
  CHECK(map.segments[0].mapped);
  CHECK_EQ(map.segments[0].end - map.segments[0].begin, 6 * kMb);
  CHECK_EQ(map.segments[0].time_ns, 1'000'000u);
  CHECK_EQ(map.segments[0].largest_gap, kMb);
  CHECK_EQ(map.blocks.size(), 1u);
}

TEST(tensors_whose_memory_was_unmapped_while_they_live_are_paused) {
  Feed feed;
  const auto paused = [&] {
    const auto rows = feed.model.pools();
    return rows.empty() ? 0 : rows[0].kind == PoolKind::Paused ? rows[0].live_bytes : ~0ull;
  };
  feed.put({GMT_ADDRESS_RESERVE, 300 * kMb, 8 * kMb});
  feed.put({GMT_PHYSICAL_CREATE, 10, 4 * kMb});
  feed.put({GMT_MAP, 300 * kMb, 4 * kMb}, of_handle(10));
  feed.put({GMT_TENSOR_ALLOC, 301 * kMb, 3 * kMb});
  feed.put({GMT_RESERVED, 0, 4 * kMb});
  feed.put({GMT_TENSOR_ALLOC, 900 * kMb, 5});  // of addresses that nobody saw reserved
  CHECK_EQ(paused(), 0u);
  feed.put({GMT_UNMAP, 300 * kMb, 4 * kMb});
  CHECK_EQ(paused(), 3 * kMb);
  const auto rows = feed.model.sites({.group_by = GroupBy::Pool}).rows;
  REQUIRE(rows.size() == 2);
  CHECK_EQ(rows[0].label, "paused: addresses kept, memory returned to the GPU");
  CHECK_EQ(rows[0].live_bytes, static_cast<int64_t>(3 * kMb));
  feed.put({GMT_PHYSICAL_CREATE, 11, 4 * kMb});
  feed.put({GMT_MAP, 300 * kMb, 4 * kMb}, of_handle(11));
  CHECK_EQ(paused(), 0u);
}

TEST(blocks_beside_all_segments_are_counted) {
  TwoSegments feed;
  feed.put({GMT_TENSOR_ALLOC, 900 * kMb, 3000});
  feed.put({GMT_TENSOR_ALLOC, 900, 70});
  feed.put({GMT_TENSOR_ALLOC, 150 * kMb, 5});
  const SegmentMap map = feed.model.segments({});
  CHECK_EQ(map.blocks.size(), 3u);
  CHECK_EQ(map.blocks_outside, 3u);
  CHECK_EQ(map.bytes_outside, 3075u);
  CHECK_EQ(map.blocks_left_out, 0u);
}

TEST(without_a_framework_the_drivers_allocations_are_shown) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 500 * kMb, kMb});
  feed.put({GMT_ASYNC_ALLOC, 400 * kMb, 2 * kMb});
  feed.put({GMT_DEVICE_ALLOC, 700 * kMb, kMb, 1});
  feed.put({GMT_HOST_ALLOC, 800 * kMb, kMb, GMT_DEVICE_NONE});
  const SegmentMap map = feed.model.segments({});
  CHECK(map.of_driver);
  REQUIRE(map.segments.size() == 2);
  CHECK_EQ(map.segments[0].begin, 400 * kMb);
  CHECK_EQ(map.segments[0].live_bytes, 2 * kMb);
  CHECK(map.blocks.empty());
  CHECK(feed.model.segments({5, 0}).segments.empty());
}

TEST_MAIN
