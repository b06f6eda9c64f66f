// Pairs, totals, failures and marks.
#include <algorithm>

#include "check.h"
#include "model_fixture.h"

using namespace gmt::test;
using gmt::model::Layer;

TEST(a_free_on_another_thread_ends_the_allocation) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512, 0, 1});
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 1024, 0, 2});
  feed.put({GMT_TENSOR_FREE, 0x1000, 512, 0, 2});
  const auto totals = feed.totals(Layer::Tensor);
  CHECK_EQ(totals.live_bytes, 1024);
  CHECK_EQ(totals.live_count, 1);
  CHECK_EQ(totals.peak_bytes, 1536);
  CHECK_EQ(totals.peak_ns, 2'000'000u);
  CHECK_EQ(totals.allocations, 2u);
  CHECK_EQ(totals.frees, 1u);
  CHECK_EQ(totals.allocated_bytes, 1536u);
  CHECK_EQ(totals.freed_bytes, 512u);
  CHECK_EQ(feed.blocks().total, 1u);
  CHECK_EQ(feed.blocks().rows[0].address, 0x2000u);
  CHECK_EQ(feed.blocks().rows[0].thread, 2);
}

TEST(an_address_is_used_again_after_its_free) {
  Feed feed;
  for (uint64_t i = 1; i <= 1000; ++i) {
    feed.put({GMT_TENSOR_ALLOC, 0x1000, i});
    if (i < 1000) feed.put({GMT_TENSOR_FREE, 0x1000, i});
  }
  const auto totals = feed.totals(Layer::Tensor);
  CHECK_EQ(totals.live_bytes, 1000);
  CHECK_EQ(totals.implied_frees, 0u);
  CHECK_EQ(totals.unmatched_frees, 0u);
}

TEST(an_allocation_at_a_live_address_implies_the_missed_free) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 300});
  const auto totals = feed.totals(Layer::Tensor);
  CHECK_EQ(totals.live_bytes, 300);
  CHECK_EQ(totals.live_count, 1);
  CHECK_EQ(totals.implied_frees, 1u);
  CHECK_EQ(feed.blocks().total, 1u);
}

TEST(a_free_of_an_unknown_address_is_counted) {
  Feed feed;
  feed.put({GMT_TENSOR_FREE, 0x9000, 100, 1});
  CHECK_EQ(feed.totals(Layer::Tensor, 1).unmatched_frees, 1u);
  CHECK_EQ(feed.totals(Layer::Tensor, 1).live_bytes, 0);
  feed.put({GMT_HOST_FREE, 0x9000, 0, GMT_DEVICE_NONE});
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).unmatched_frees, 1u);
}

TEST(one_address_on_two_devices_is_two_blocks) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100, 0});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 200, 1});
  feed.put({GMT_TENSOR_FREE, 0x1000, 100, 0});
  CHECK_EQ(feed.totals(Layer::Tensor, 0).live_bytes, 0);
  CHECK_EQ(feed.totals(Layer::Tensor, 1).live_bytes, 200);
  CHECK_EQ(feed.totals(Layer::Tensor, 1).implied_frees, 0u);
  feed.put({GMT_TENSOR_FREE, 0x1000, 200, GMT_DEVICE_NONE});  // device unknown: the address alone
  CHECK_EQ(feed.totals(Layer::Tensor, 1).live_bytes, 0);
}

TEST(one_address_in_two_processes_is_two_blocks) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100}, 0);
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 200}, 3);
  feed.put({GMT_TENSOR_FREE, 0x1000, 100}, 0);
  CHECK_EQ(feed.totals(Layer::Tensor, 0, 0).live_bytes, 0);
  CHECK_EQ(feed.totals(Layer::Tensor, 0, 3).live_bytes, 200);
}

TEST(layers_are_never_added_up) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 1 << 20});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512});
  feed.put({GMT_HOST_ALLOC, 0x5000, 4096, 0});
  CHECK_EQ(feed.totals(Layer::Driver).live_bytes, 1 << 20);
  CHECK_EQ(feed.totals(Layer::Tensor).live_bytes, 512);
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).live_bytes, 4096);
  CHECK_EQ(feed.totals(Layer::Host, 0).live_bytes, 0);
  feed.put({GMT_TENSOR_FREE, 0x1000, 512});
  CHECK_EQ(feed.totals(Layer::Driver).live_bytes, 1 << 20);
  gmt::model::AllocationQuery host;
  host.layer = Layer::Host;
  REQUIRE(feed.blocks(host).total == 1);
  CHECK_EQ(feed.blocks(host).rows[0].device, -1);
}

TEST(what_the_framework_holds_is_set_not_added) {
  Feed feed;
  feed.put({GMT_RESERVED, 0, 100});
  feed.put({GMT_RESERVED, 0, 250});
  feed.put({GMT_RESERVED, 0, 50, 1});
  CHECK_EQ(feed.model.process(0)->devices.at(0).reserved_bytes(), 250);
  CHECK_EQ(feed.model.process(0)->devices.at(1).reserved_bytes(), 50);
}

TEST(failures_are_counted_and_out_of_memory_is_listed) {
  Feed feed;
  feed.names.set(7, {{"train.py", 12, "main"}});
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 100});
  feed.put({GMT_DEVICE_ALLOC | GMT_FAILED, 0, 999, 0, 3, 7}, in_context(1, 2));
  feed.put({GMT_DEVICE_ALLOC | GMT_FAILED, 0, 5, 0, 3, 7}, in_context(1, 1));  // CUDA_ERROR_INVALID_VALUE
  feed.put({GMT_TENSOR_OOM, 0, 777, 0, 3, 7});
  CHECK_EQ(feed.totals(Layer::Driver).failed, 2u);
  CHECK_EQ(feed.totals(Layer::Driver).live_bytes, 100);
  CHECK_EQ(feed.totals(Layer::Tensor).failed, 1u);
  const auto &list = feed.model.out_of_memory();
  REQUIRE(list.size() == 2);
  CHECK_EQ(list[0].requested_bytes, 999u);
  CHECK_EQ(list[0].live_bytes, 100);
  CHECK_EQ(list[0].thread, 3);
  CHECK(list[1].layer == Layer::Tensor);
  CHECK_EQ(list[1].requested_bytes, 777u);
  const auto site = feed.model.site(list[1].site);
  REQUIRE(site && site->stack.frames.size() == 1);
  CHECK_EQ(site->stack.frames[0].line, 12u);
}

TEST(pauses_and_gaps_are_intervals) {
  Feed feed;
  CHECK(feed.model.recording(0));
  feed.put({GMT_RECORDING_START});
  feed.put({GMT_RECORDING_STOP});
  CHECK(!feed.model.recording(0));
  feed.put({GMT_RECORDING_START});
  CHECK(feed.model.recording(0));
  feed.put({GMT_GAP_BEGIN});
  feed.put({GMT_GAP_END});
  feed.put({GMT_GAP_BEGIN});
  const auto *process = feed.model.process(0);
  REQUIRE(process->pauses.size() == 1 && process->gaps.size() == 2);
  CHECK_EQ(process->pauses[0].begin_ns, 2'000'000u);
  CHECK_EQ(process->pauses[0].end_ns, 3'000'000u);
  CHECK_EQ(process->gaps[0].end_ns, 5'000'000u);
  CHECK_EQ(process->gaps[1].end_ns, ~0ull);
}

TEST(what_the_allocator_has_when_recording_goes_on_is_what_lives) {
  Feed feed;
  feed.names.set_before_attach(99);
  feed.put({GMT_RECORDING_START});
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 4096});
  feed.put({GMT_RESERVED, 0, 4096});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512});  // stays
  feed.put({GMT_TENSOR_ALLOC, 0x1200, 512});  // goes unseen
  feed.put({GMT_TENSOR_ALLOC, 0x1400, 512});  // goes unseen, another comes there
  feed.put({GMT_RECORDING_STOP});
  feed.put({GMT_RECORDING_START});
  feed.put({GMT_TENSOR_ALLOC, 0x1800, 256});  // seen to come: the list is older
  feed.put({GMT_TENSOR_FREE, 0x1900, 256});   // seen to go: likewise, though nobody knew of it
  feed.put_pre_existing(feed.sequence(), GMT_DEVICE_ALLOC, {{0x1000, 4096}, {0x9000, 8192}}, 99, 4096 + 8192);
  feed.put_pre_existing(feed.sequence(), GMT_TENSOR_ALLOC,
                        {{0x1000, 512}, {0x1400, 1024}, {0x1900, 256}, {0x9000, 2048}}, 99);
  feed.put_pre_existing(feed.sequence(), 0, {});
  std::map<uint64_t, uint64_t> alive;
  for (const auto &row : feed.blocks({.layer = Layer::Tensor}).rows) alive[row.address] = row.bytes;
  const std::map<uint64_t, uint64_t> expected{{0x1000, 512}, {0x1400, 1024}, {0x1800, 256}, {0x9000, 2048}};
  CHECK(alive == expected);
  CHECK_EQ(feed.totals(Layer::Tensor).live_bytes, 512 + 1024 + 256 + 2048);
  CHECK_EQ(feed.totals(Layer::Driver).live_bytes, 4096 + 8192);
  CHECK_EQ(feed.totals(Layer::Driver).segment_allocations, 2u);
  CHECK_EQ(feed.model.process(0)->devices.at(0).reserved_bytes(), 4096 + 8192);
  for (const auto &row : feed.sites().rows)
    if (row.live_bytes == 1024 + 2048) CHECK(row.source == gmt::model::LineSource::BeforeAttach);
  // Later lists are of no waking.
  feed.put_pre_existing(feed.sequence(), GMT_TENSOR_ALLOC, {});
  CHECK_EQ(feed.totals(Layer::Tensor).live_count, 4);
}

TEST(the_sum_of_what_was_there_before_falls_with_frees_of_what_nobody_saw_allocated) {
  Feed feed;
  feed.names.set_before_attach(99);
  feed.put({GMT_RECORDING_START});
  feed.put({GMT_TENSOR_ALLOC, GMT_EARLIER_ADDRESS, 1000, 0, 0, 99});
  feed.put({GMT_DEVICE_ALLOC, GMT_EARLIER_ADDRESS, 8192, 0, 0, 99});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100});
  feed.put({GMT_TENSOR_FREE, 0x1000, 100});  // seen
  feed.put({GMT_TENSOR_FREE, 0x2000, 300});
  feed.put({GMT_TENSOR_FREE, 0x2000, 200});
  const auto totals = [&] { return feed.totals(Layer::Tensor); };
  CHECK_EQ(totals().live_bytes, 500);
  CHECK_EQ(totals().live_count, 1);
  CHECK_EQ(totals().allocations, 2u);
  CHECK_EQ(totals().frees, 1u);
  CHECK_EQ(totals().freed_bytes, 100u + 300 + 200);
  CHECK_EQ(totals().unmatched_frees, 2u);
  const auto rows = feed.sites().rows;
  const auto sum = std::ranges::find(rows, 500, &gmt::model::SiteRow::live_bytes);
  REQUIRE(sum != rows.end());
  CHECK(sum->source == gmt::model::LineSource::BeforeAttach);
  feed.put({GMT_TENSOR_FREE, 0x3000, 900});  // more than is left
  CHECK_EQ(totals().live_bytes, 0);
  CHECK_EQ(totals().live_count, 0);
  feed.put({GMT_TENSOR_FREE, 0x4000, 1});
  CHECK_EQ(totals().live_bytes, 0);
  feed.put({GMT_FREE, 0x5000});  // of which the bytes are not known
  CHECK_EQ(feed.totals(Layer::Driver).live_bytes, 8192);
  CHECK_EQ(feed.totals(Layer::Driver).unmatched_frees, 1u);
}

TEST(what_lives_when_clean_up_begins_stays) {
  Feed feed;
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 100});
  feed.put({GMT_PROCESS_ENDING});
  feed.put({GMT_TENSOR_FREE, 0x1000, 100});
  CHECK_EQ(feed.totals(Layer::Tensor).live_bytes, 100);
  CHECK_EQ(feed.model.process(0)->events_after_ending, 1u);
}

TEST(a_segment_is_what_the_driver_gave_when_the_framework_holds_more) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 2 << 20});
  feed.put({GMT_RESERVED, 0, 2 << 20});
  feed.put({GMT_DEVICE_ALLOC, 0x9000, 512});  // not the framework's
  feed.put({GMT_RESERVED, 0, 2 << 20});
  CHECK_EQ(feed.totals(Layer::Driver).segment_allocations, 1u);
  feed.put({GMT_FREE, 0x9000});
  CHECK_EQ(feed.totals(Layer::Driver).segment_frees, 0u);
  feed.put({GMT_FREE, 0x1000});
  CHECK_EQ(feed.totals(Layer::Driver).segment_frees, 1u);
  CHECK_EQ(feed.model.process(0)->devices.at(0).reserved_bytes(), 0);
}

TEST(the_live_set_equals_a_map_under_random_events) {
  Feed feed;
  std::map<uint64_t, uint64_t> live;
  uint64_t state = 7, bytes = 0;
  const auto random = [&](uint64_t below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
  };
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t address = 0x7f0000000000ull + random(5000) * 512;
    if (live.count(address)) {
      bytes -= live[address];
      live.erase(address);
      feed.put({GMT_TENSOR_FREE, address, 0, 0, static_cast<uint16_t>(random(4))});
    } else {
      const uint64_t size = 512 * (1 + random(100));
      bytes += live[address] = size;
      feed.put({GMT_TENSOR_ALLOC, address, size, 0, static_cast<uint16_t>(random(4)), 1 + uint32_t(random(30))});
    }
  }
  CHECK_EQ(feed.totals(Layer::Tensor).live_bytes, static_cast<int64_t>(bytes));
  CHECK_EQ(feed.totals(Layer::Tensor).unmatched_frees, 0u);
  gmt::model::AllocationQuery query;
  query.sort = gmt::model::AllocationSort::Address;
  query.descending = false;
  query.to = live.size();
  const auto rows = feed.blocks(query);
  REQUIRE(rows.rows.size() == live.size());
  CHECK_EQ(rows.sum_bytes, static_cast<int64_t>(bytes));
  size_t at = 0;
  for (const auto &[address, size] : live) {
    CHECK_EQ(rows.rows[at].address, address);
    CHECK_EQ(rows.rows[at++].bytes, size);
  }
}

TEST_MAIN
