// Calls of a recorded run given to the rules of the allocator, and the pools that served them.
#include "model/allocator/replay.h"

#include <random>
#include <utility>

#include "check.h"
#include "model/allocator_card.h"

using namespace gmt::model;
using namespace gmt::test;

namespace {

AllocatorCall take(uint32_t allocation, uint64_t bytes, CachingAllocator::Pool pool = 0) {
  return {AllocatorCall::kAllocate, allocation, bytes, pool};
}
AllocatorCall give(uint32_t allocation) { return {AllocatorCall::kFree, allocation, 0, 0}; }
constexpr AllocatorCall kEmpty{AllocatorCall::kEmptyCache, 0, 0, 0};

using Bytes = std::vector<uint64_t>;

}  // namespace

TEST(replay_gives_what_is_reserved_after_each_call) {
  const std::vector<AllocatorCall> calls = {
      take(0, 30 * kMiB), take(1, kMiB), give(0), take(2, 25 * kMiB), give(2), kEmpty, give(1)};
  const Replay found = replay(calls, {}, {});
  CHECK(found.reserved_bytes == (Bytes{30 * kMiB, 32 * kMiB, 32 * kMiB, 32 * kMiB, 32 * kMiB, 2 * kMiB, 2 * kMiB}));
  CHECK_EQ(found.reserved_peak_bytes, 32 * kMiB);
  CHECK_EQ(found.allocated_peak_bytes, 31 * kMiB);
  CHECK_EQ(found.allocated_peak_call, 1u);
  CHECK(!found.failed_call);
}

TEST(replay_ends_where_memory_runs_out) {
  AllocatorSettings settings;
  settings.limit_bytes = 50 * kMiB;
  const std::vector<AllocatorCall> calls = {take(0, 30 * kMiB), take(1, 30 * kMiB), take(2, 512)};
  const Replay found = replay(calls, settings, {});
  CHECK(found.failed_call == 1u);
  CHECK_EQ(found.reserved_bytes.size(), 2u);
  CHECK_EQ(found.retries, 1u);
}

TEST(replay_takes_the_recorded_places_of_segments) {
  // Of two free blocks of 30 MiB the lower one is taken: the first half of a segment of 60 MiB, which is whole no more then, or the other.
  const std::vector<AllocatorCall> calls = {
      take(0, 60 * kMiB), give(0), take(1, 30 * kMiB), take(2, 30 * kMiB), take(3, 30 * kMiB), give(1), give(3),
      take(4, 30 * kMiB), give(2), take(5, 60 * kMiB)};
  RecordedPlaces recorded;
  // The driver gives lower places to later segments.
  CHECK_EQ(replay(calls, {}, recorded).reserved_peak_bytes, 90 * kMiB);
  recorded.addresses = {500 * kMiB, 500 * kMiB, 530 * kMiB, 900 * kMiB, 500 * kMiB, 900 * kMiB};
  CHECK_EQ(replay(calls, {}, recorded).reserved_peak_bytes, 150 * kMiB);
}

TEST(replay_begins_with_what_was_there_before) {
  RecordedPlaces places;
  places.segments = {{1000 * kMiB, 40 * kMiB, 0}, {2000 * kMiB, 2 * kMiB, 0}};
  places.earlier_calls = 1;
  places.addresses = {1018 * kMiB, 3000 * kMiB, 1000 * kMiB, 2000 * kMiB};
  // A block in the middle leaves 18 MiB on both sides.
  std::vector<AllocatorCall> calls = {take(0, 4 * kMiB), take(1, 20 * kMiB), take(2, 18 * kMiB), take(3, kMiB)};
  CHECK_EQ(find_pools(calls, {}, places), 0u);
  CHECK(replay(calls, {}, places).reserved_bytes == (Bytes{42 * kMiB, 62 * kMiB, 62 * kMiB, 62 * kMiB}));
}

TEST(pools_of_two_streams_are_found_by_places) {
  // Both take and free 30 MiB in turn; a free block of the other stream, lower and as big, is never taken.
  std::vector<AllocatorCall> calls = {
      take(0, 30 * kMiB), take(1, 30 * kMiB), give(0), give(1), take(2, 30 * kMiB), give(2),
      take(3, 20 * kMiB), take(4, 20 * kMiB)};
  RecordedPlaces places;
  places.addresses = {100 * kMiB, 200 * kMiB, 200 * kMiB, 200 * kMiB, 100 * kMiB};
  CHECK_EQ(find_pools(calls, {}, places), 0u);
  CHECK_EQ(calls[0].pool, calls[7].pool);
  CHECK_EQ(calls[1].pool, calls[4].pool);
  CHECK_EQ(calls[1].pool, calls[6].pool);
  CHECK(calls[0].pool != calls[1].pool);
}

TEST(pools_of_one_stream_are_one) {
  std::vector<AllocatorCall> calls = {take(0, 30 * kMiB), take(1, 30 * kMiB), give(0), give(1), take(2, 30 * kMiB)};
  RecordedPlaces places;
  places.addresses = {100 * kMiB, 200 * kMiB, 100 * kMiB};
  CHECK_EQ(find_pools(calls, {}, places), 0u);
  for (const AllocatorCall &call : calls) CHECK_EQ(call.pool, 0u);
}

namespace {

/// Streams at random, each with blocks of its own: what they reserve, and where their blocks lay.
struct Streams {
  std::vector<AllocatorCall> calls;
  RecordedPlaces places;
  Bytes reserved;
};

Streams streams_at_random(uint32_t seed, uint32_t count) {
  std::mt19937 random(seed);
  uint64_t next = 1ull << 40;
  CachingAllocator allocator({}, [&](uint64_t bytes) { return std::exchange(next, next + bytes + 64 * kMiB); });
  Streams out;
  std::vector<uint32_t> live;
  for (int call = 0; call < 2000; ++call) {
    if (live.empty() || (live.size() < 30 && random() % 2)) {
      const uint64_t bytes = allocator.rounded(1 + random() % (random() % 2 ? kMiB : 30 * kMiB));
      const uint32_t pool = random() % count;
      out.calls.push_back(take(static_cast<uint32_t>(out.places.addresses.size()), bytes, pool));
      live.push_back(out.calls.back().allocation);
      out.places.addresses.push_back(allocator.allocate(pool, bytes)->address);
    } else {
      std::swap(live[random() % live.size()], live.back());
      out.calls.push_back(give(live.back()));
      allocator.free(out.places.addresses[live.back()]);
      live.pop_back();
    }
    out.reserved.push_back(allocator.reserved_bytes());
  }
  return out;
}

}  // namespace

TEST(replay_with_found_pools_is_what_was_recorded) {
  for (uint32_t seed = 1; seed <= (long_run() ? 100u : 5u); ++seed) {
    for (const uint32_t count : {1u, 2u, 3u}) {
      Streams run = streams_at_random(seed, count);
      CHECK_EQ(find_pools(run.calls, {}, run.places), 0u);
      CHECK(replay(run.calls, {}, run.places).reserved_bytes == run.reserved);
    }
  }
}
