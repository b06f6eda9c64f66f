// The rules of PyTorch's caching allocator: each right answer follows from its source (c10/cuda/CUDACachingAllocator.cpp) by hand.
#include <map>
#include <random>

#include "check.h"
#include "model/allocator_card.h"

using namespace gmt::model;
using namespace gmt::test;

namespace {

AllocatorSettings with_limit(uint64_t bytes) {
  AllocatorSettings settings;
  settings.limit_bytes = bytes;
  return settings;
}

}  // namespace

TEST(allocator_rounds_to_512_bytes) {
  Card card;
  CHECK_EQ(card.taken(1), 512u);
  CHECK_EQ(card.taken(512), 512u);
  CHECK_EQ(card.taken(513), 1024u);
  CHECK_EQ(card.allocated_bytes(), 2048u);
}

TEST(allocator_takes_segments_by_size) {
  const std::pair<uint64_t, uint64_t> sizes[] = {
      {512, 2 * kMiB},        {kMiB, 2 * kMiB},           {kMiB + 1, 20 * kMiB},  {10 * kMiB - 512, 20 * kMiB},
      {10 * kMiB, 10 * kMiB}, {10 * kMiB + 1, 12 * kMiB}, {21 * kMiB, 22 * kMiB},
  };
  for (const auto &[bytes, segment] : sizes) {
    Card card;
    card.take(bytes);
    CHECK_EQ(card.reserved_bytes(), segment);
  }
}

TEST(allocator_splits_small_blocks_to_the_last_512_bytes) {
  Card card;
  const uint64_t first = card.take(kMiB);
  const uint64_t second = card.take(kMiB - 512);
  CHECK_EQ(second, first + kMiB);
  CHECK_EQ(card.take(512), first + 2 * kMiB - 512);
  CHECK_EQ(card.reserved_bytes(), 2 * kMiB);
  card.take(512);
  CHECK_EQ(card.reserved_bytes(), 4 * kMiB);
}

TEST(allocator_splits_large_blocks_when_more_than_1_mib_is_left) {
  Card whole;
  CHECK_EQ(whole.taken(11 * kMiB), 12 * kMiB);
  Card cut;
  CHECK_EQ(cut.taken(11 * kMiB - 512), 11 * kMiB - 512);
}

TEST(allocator_takes_the_smallest_block_that_fits_then_the_lowest_address) {
  Card card;
  const uint64_t big = card.take(40 * kMiB);
  const uint64_t low = card.take(30 * kMiB);
  const uint64_t high = card.take(30 * kMiB);
  for (const uint64_t address : {high, big, low}) card.free(address);
  CHECK_EQ(card.take(25 * kMiB), low);
  CHECK_EQ(card.take(25 * kMiB), high);
  CHECK_EQ(card.take(25 * kMiB), big);
  CHECK_EQ(card.reserved_bytes(), 100 * kMiB);
}

TEST(allocator_keeps_small_and_large_memory_apart) {
  Card card;
  card.free(card.take(20 * kMiB));
  card.take(512);
  CHECK_EQ(card.reserved_bytes(), 22 * kMiB);
}

TEST(allocator_merges_free_neighbours) {
  Card card;
  const uint64_t first = card.take(6 * kMiB);
  const uint64_t second = card.take(6 * kMiB);
  const uint64_t third = card.take(8 * kMiB);
  CHECK_EQ(third, first + 12 * kMiB);
  CHECK(card.free(first));
  CHECK(card.free(third));
  CHECK(!card.free(third));
  CHECK_EQ(card.take(7 * kMiB), third);
  CHECK(card.free(third));
  CHECK(card.free(second));
  CHECK_EQ(card.take(20 * kMiB), first);
  CHECK_EQ(card.reserved_bytes(), 20 * kMiB);
}

TEST(allocator_gives_back_only_whole_segments) {
  Card card;
  const uint64_t split = card.take(6 * kMiB);
  const uint64_t whole = card.take(30 * kMiB);
  card.free(whole);
  card.empty_cache();
  CHECK_EQ(card.reserved_bytes(), 20 * kMiB);
  card.free(split);
  card.empty_cache();
  CHECK_EQ(card.reserved_bytes(), 0u);
  CHECK(card.segments().empty());
}

TEST(allocator_gives_its_cache_back_before_memory_runs_out) {
  Card card(with_limit(60 * kMiB));
  const uint64_t first = card.take(30 * kMiB);
  card.take(20 * kMiB);
  card.free(first);
  CHECK(card.take(40 * kMiB) != 0);
  CHECK_EQ(card.retries(), 1u);
  CHECK_EQ(card.reserved_bytes(), 60 * kMiB);
  CHECK(card.take(2 * kMiB) == 0);
  CHECK_EQ(card.retries(), 2u);
}

TEST(allocator_of_one_pool_serves_no_other) {
  Card card;
  card.free(card.take(30 * kMiB, 1));
  CHECK(!card.best_fit(2, 30 * kMiB));
  card.take(30 * kMiB, 2);
  CHECK_EQ(card.reserved_bytes(), 60 * kMiB);
  card.take(30 * kMiB, 1);
  CHECK_EQ(card.reserved_bytes(), 60 * kMiB);
}

TEST(allocator_rounds_up_by_power2_divisions) {
  AllocatorSettings settings;
  settings.roundup_power2_divisions = 4;
  Card card(settings);
  CHECK_EQ(card.taken(2048), 2048u);  // not above 4 × 512
  CHECK_EQ(card.taken(2049), 2560u);  // 2048 + n × 512
  CHECK_EQ(card.taken(1200 * 1024), 1280u * 1024);
  CHECK_EQ(card.taken(1ull << 21), 1ull << 21);
}

TEST(allocator_neither_splits_nor_lends_blocks_above_the_largest_split) {
  AllocatorSettings settings;
  settings.max_split_bytes = 100 * kMiB;
  Card card(settings);
  const uint64_t big = card.take(120 * kMiB);
  card.free(big);
  CHECK(card.take(50 * kMiB) != big);
  CHECK_EQ(card.reserved_bytes(), 170 * kMiB);
  CHECK(card.take(100 * kMiB) != big);  // 20 MiB more than it needs is too much
  CHECK_EQ(card.reserved_bytes(), 270 * kMiB);
  CHECK_EQ(card.take(101 * kMiB), big);
  CHECK_EQ(card.allocated_bytes(), 270 * kMiB);
}

TEST(allocator_gives_back_what_is_too_big_to_split_first) {
  AllocatorSettings settings = with_limit(300 * kMiB);
  settings.max_split_bytes = 100 * kMiB;
  Card card(settings);
  const uint64_t big = card.take(200 * kMiB);
  const uint64_t other = card.take(60 * kMiB);
  card.free(big);
  card.free(other);
  CHECK(card.take(90 * kMiB) != 0);
  CHECK_EQ(card.retries(), 0u);
  CHECK_EQ(card.reserved_bytes(), 150 * kMiB);
}

TEST(allocator_collects_what_was_free_for_long_above_the_threshold) {
  AllocatorSettings settings = with_limit(200 * kMiB);
  settings.garbage_collection_threshold = 0.5;
  Card card(settings);
  const uint64_t old = card.take(30 * kMiB);
  card.free(old);
  for (int time = 0; time < 4; ++time) card.free(card.take(40 * kMiB));
  CHECK_EQ(card.reserved_bytes(), 70 * kMiB);
  card.take(44 * kMiB);  // 70 MiB are held, below the threshold of 100
  CHECK_EQ(card.reserved_bytes(), 114 * kMiB);
  card.take(60 * kMiB);  // 14 MiB too much: the one that was free for longer goes
  CHECK_EQ(card.reserved_bytes(), 144 * kMiB);
  CHECK(card.best_fit(0, 40 * kMiB).has_value());
}

TEST(allocator_grows_expandable_segments_at_their_end) {
  AllocatorSettings settings;
  settings.expandable_segments = true;
  Card card(settings);
  const uint64_t first = card.take(30 * kMiB);
  CHECK_EQ(card.reserved_bytes(), 40 * kMiB);
  CHECK_EQ(card.take(25 * kMiB), first + 30 * kMiB);  // 10 MiB are free in front of what is mapped then
  CHECK_EQ(card.reserved_bytes(), 60 * kMiB);
  card.take(kMiB);
  CHECK_EQ(card.reserved_bytes(), 62 * kMiB);
  CHECK_EQ(card.segments_taken, 2u);
  // All of the rest is used, however little it is.
  CHECK_EQ(card.take(5 * kMiB - 512), first + 55 * kMiB);
  CHECK_EQ(card.reserved_bytes(), 62 * kMiB);
}

TEST(allocator_has_room_for_more_than_an_expandable_segment) {
  AllocatorSettings settings;
  settings.expandable_segments = true;
  settings.address_space_bytes = 100 * kMiB;
  Card card(settings);
  CHECK_EQ(card.taken(300 * kMiB), 300 * kMiB);
  card.take(90 * kMiB);
  CHECK_EQ(card.segments_taken, 2u);
  settings.limit_bytes = 200 * kMiB;
  Card small(settings);
  CHECK_EQ(small.taken(300 * kMiB), 0u);
}

TEST(allocator_unmaps_whole_pieces_of_expandable_segments) {
  AllocatorSettings settings;
  settings.expandable_segments = true;
  Card card(settings);
  const uint64_t first = card.take(30 * kMiB);
  const uint64_t second = card.take(50 * kMiB);
  const uint64_t last = card.take(20 * kMiB);
  CHECK_EQ(card.reserved_bytes(), 100 * kMiB);
  card.free(second);  // from 30 to 80 MiB: of the pieces of 20 MiB, those from 40 to 80 are free
  card.empty_cache();
  CHECK_EQ(card.reserved_bytes(), 60 * kMiB);
  CHECK_EQ(card.segments().size(), 2u);
  // What is unmapped first is mapped again, with the 10 MiB before it.
  CHECK_EQ(card.take(40 * kMiB), first + 30 * kMiB);
  CHECK_EQ(card.reserved_bytes(), 100 * kMiB);
  for (const uint64_t address : {first, first + 30 * kMiB, last}) card.free(address);
  card.empty_cache();
  CHECK_EQ(card.reserved_bytes(), 0u);
}

TEST(allocator_takes_a_given_place) {
  Card card;
  card.add_segment(0, {kApart, 20 * kMiB}, false);
  CHECK_EQ(card.reserved_bytes(), 20 * kMiB);
  CHECK(card.allocate_at(kApart + 4 * kMiB, 2 * kMiB - 100) == Card::Placed::kCut);
  CHECK_EQ(card.allocated_bytes(), 2 * kMiB);
  CHECK(card.allocate_at(kApart + 5 * kMiB, 2 * kMiB) == Card::Placed::kNowhere);
  CHECK(card.allocate_at(kApart + 19 * kMiB, 2 * kMiB) == Card::Placed::kNowhere);
  CHECK(card.holds(kApart + 20 * kMiB - 1));
  CHECK(!card.holds(kApart + 20 * kMiB));
  CHECK_EQ(card.take(4 * kMiB), kApart);
  CHECK(card.allocate_at(kApart + 6 * kMiB, 14 * kMiB) == Card::Placed::kWhole);
}

namespace {

/// The rules hold whatever is requested: what is held is what its segments are, and no two blocks share memory.
void hold_invariants(const AllocatorSettings &settings, uint32_t seed) {
  std::mt19937 random(seed);
  Card card(settings);
  std::map<uint64_t, uint64_t> live;
  for (int call = 0; call < 3000; ++call) {
    const uint32_t choice = random() % 100;
    if (choice < 55 || live.empty()) {
      const uint64_t bytes = (random() % 3 ? random() % kMiB : random() % (40 * kMiB)) + 1;
      const auto got = card.allocate(random() % 2, bytes);
      if (!got) continue;
      REQUIRE(got->bytes >= bytes);
      const auto [at, fresh] = live.emplace(got->address, got->bytes);
      REQUIRE(fresh);
      REQUIRE(at == live.begin() || std::prev(at)->first + std::prev(at)->second <= at->first);
      REQUIRE(std::next(at) == live.end() || at->first + at->second <= std::next(at)->first);
    } else if (choice < 99) {
      const auto at = std::next(live.begin(), random() % live.size());
      REQUIRE(card.free(at->first));
      live.erase(at);
    } else {
      card.empty_cache();
    }
    uint64_t allocated = 0, reserved = 0;
    for (const auto &[address, bytes] : live) allocated += bytes;
    const auto segments = card.segments();
    for (const CachingAllocator::Range &range : segments) reserved += range.bytes;
    REQUIRE(allocated == card.allocated_bytes());
    REQUIRE(reserved == card.reserved_bytes());
    REQUIRE(reserved <= settings.limit_bytes);
    auto segment = segments.begin();
    for (const auto &[address, bytes] : live) {
      while (segment != segments.end() && segment->address + segment->bytes <= address) ++segment;
      REQUIRE(segment != segments.end() && segment->address <= address);
      REQUIRE(address + bytes <= segment->address + segment->bytes);
    }
  }
  for (const auto &[address, bytes] : live) card.free(address);
  card.empty_cache();
  CHECK_EQ(card.allocated_bytes(), 0u);
  CHECK_EQ(card.reserved_bytes(), 0u);
}

}  // namespace

TEST(allocator_holds_its_invariants) {
  AllocatorSettings expandable, coarse, limited = with_limit(300 * kMiB);
  expandable.expandable_segments = true;
  coarse.max_split_bytes = 24 * kMiB;
  coarse.roundup_power2_divisions = 8;
  limited.garbage_collection_threshold = 0.6;
  AllocatorSettings both = expandable;
  both.limit_bytes = 200 * kMiB;
  const uint32_t rounds = long_run() ? 50 : 2;
  for (uint32_t seed = 1; seed <= rounds; ++seed)
    for (const AllocatorSettings &settings : {AllocatorSettings{}, expandable, coarse, limited, both})
      hold_invariants(settings, seed);
}
