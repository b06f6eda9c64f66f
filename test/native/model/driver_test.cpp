// The driver layer: frees of every kind, virtual memory, imports, bulk frees, frees that are taken back.
#include "check.h"
#include "model_fixture.h"

using namespace gmt::test;
using gmt::model::Layer;

namespace {
int64_t driver_bytes(const Feed &feed, uint8_t device = 0) { return feed.totals(Layer::Driver, device).live_bytes; }
gmt::model::AllocationRows driver_rows(Feed &feed) {
  gmt::model::AllocationQuery query;
  query.layer = Layer::Driver;
  return feed.blocks(query);
}
}  // namespace

TEST(one_free_ends_device_managed_async_and_graph_memory) {
  Feed feed;
  uint64_t address = 0x1000;
  for (const uint8_t kind : {GMT_DEVICE_ALLOC, GMT_MANAGED_ALLOC, GMT_ASYNC_ALLOC, GMT_GRAPH_ALLOC}) {
    feed.put({kind, address, 100});
    CHECK_EQ(driver_bytes(feed), 100);
    feed.put({GMT_FREE, address});
    CHECK_EQ(driver_bytes(feed), 0);
    address += 0x1000;
  }
  feed.put({GMT_GRAPH_ALLOC, address, 100});
  feed.put({GMT_GRAPH_FREE, address});
  CHECK_EQ(driver_bytes(feed), 0);
  CHECK_EQ(feed.totals(Layer::Driver).frees, 5u);
}

TEST(a_driver_free_may_name_the_current_device_instead_of_the_memorys) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 100, 1});
  feed.put({GMT_FREE, 0x1000, 0, 0});
  CHECK_EQ(driver_bytes(feed, 1), 0);
  CHECK_EQ(feed.totals(Layer::Driver, 0).unmatched_frees, 0u);
}

TEST(arrays_and_pinned_host_memory_have_frees_of_their_own) {
  Feed feed;
  feed.put({GMT_ARRAY_ALLOC, 0x55, 640});
  feed.put({GMT_HOST_ALLOC, 0x7000, 100, 0});
  feed.put({GMT_HOST_REGISTER, 0x8000, 200, GMT_DEVICE_NONE});
  feed.put({GMT_FREE, 0x55});
  CHECK_EQ(feed.totals(Layer::Driver).unmatched_frees, 1u);
  feed.put({GMT_ARRAY_FREE, 0x55});
  CHECK_EQ(driver_bytes(feed), 0);
  feed.put({GMT_HOST_FREE, 0x7000, 0, 0});
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).live_bytes, 200);
  feed.put({GMT_HOST_UNREGISTER, 0x8000});
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).live_bytes, 0);
}

TEST(an_undone_free_brings_the_block_back) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 100, 0, 5});
  feed.put({GMT_FREE, 0x1000});
  feed.put({GMT_FREE_UNDONE, 0x1000, GMT_FREE});
  const auto totals = feed.totals(Layer::Driver);
  CHECK_EQ(totals.live_bytes, 100);
  CHECK_EQ(totals.live_count, 1);
  CHECK_EQ(totals.frees, 0u);
  CHECK_EQ(totals.freed_bytes, 0u);
  CHECK_EQ(totals.allocations, 1u);
  REQUIRE(driver_rows(feed).total == 1);
  CHECK_EQ(driver_rows(feed).rows[0].thread, 5);
  CHECK_EQ(driver_rows(feed).rows[0].time_ns, 1'000'000u);
  feed.put({GMT_FREE, 0x1000});
  CHECK_EQ(driver_bytes(feed), 0);
}

TEST(an_undone_free_of_nothing_is_no_unmatched_free) {
  Feed feed;
  feed.put({GMT_FREE, 0x1000});
  CHECK_EQ(feed.totals(Layer::Driver).unmatched_frees, 1u);
  feed.put({GMT_FREE_UNDONE, 0x1000, GMT_FREE});
  CHECK_EQ(feed.totals(Layer::Driver).unmatched_frees, 0u);
}

TEST(a_handle_released_before_its_unmap_lives_until_the_last_unmap) {
  Feed feed;
  feed.put({GMT_ADDRESS_RESERVE, 0x100000, 1 << 30});
  feed.put({GMT_PHYSICAL_CREATE, 77, 2 << 20});
  CHECK_EQ(driver_bytes(feed), 2 << 20);  // a reservation holds no memory
  feed.put({GMT_MAP, 0x100000, 1 << 20}, of_handle(77));
  feed.put({GMT_MAP, 0x200000, 1 << 20}, of_handle(77, 1 << 20));
  feed.put({GMT_PHYSICAL_RELEASE, 77});
  CHECK_EQ(driver_bytes(feed), 2 << 20);
  feed.put({GMT_UNMAP, 0x100000, 1 << 20});
  CHECK_EQ(driver_bytes(feed), 2 << 20);
  feed.put({GMT_UNMAP, 0x200000, 1 << 20});
  CHECK_EQ(driver_bytes(feed), 0);
  CHECK_EQ(feed.model.process(0)->memory.maps(), 0u);
  CHECK_EQ(feed.model.process(0)->memory.reserved_bytes(), 1u << 30);
  feed.put({GMT_ADDRESS_FREE, 0x100000, 1 << 30});
  CHECK_EQ(feed.model.process(0)->memory.reservations(), 0u);
  CHECK_EQ(feed.totals(Layer::Driver).unmatched_frees, 0u);
}

TEST(an_unmapped_handle_lives_until_its_release) {
  Feed feed;
  feed.put({GMT_PHYSICAL_CREATE, 5, 100});
  feed.put({GMT_MAP, 0x1000, 100}, of_handle(5));
  feed.put({GMT_UNMAP, 0x1000, 100});
  CHECK_EQ(driver_bytes(feed), 100);
  feed.put({GMT_PHYSICAL_RELEASE, 5});
  CHECK_EQ(driver_bytes(feed), 0);
}

TEST(a_retained_handle_needs_two_releases) {
  Feed feed;
  feed.put({GMT_PHYSICAL_CREATE, 5, 100});
  feed.put({GMT_PHYSICAL_RETAIN, 5});
  feed.put({GMT_PHYSICAL_RELEASE, 5});
  CHECK_EQ(driver_bytes(feed), 100);
  feed.put({GMT_PHYSICAL_RELEASE, 5});
  CHECK_EQ(driver_bytes(feed), 0);
}

TEST(one_unmap_may_end_several_maps) {
  Feed feed;
  for (uint64_t i = 0; i < 4; ++i) {
    feed.put({GMT_PHYSICAL_CREATE, 10 + i, 100});
    feed.put({GMT_MAP, 0x1000 * (i + 1), 0x1000}, of_handle(10 + i));
    feed.put({GMT_PHYSICAL_RELEASE, 10 + i});
  }
  CHECK_EQ(driver_bytes(feed), 400);
  feed.put({GMT_UNMAP, 0x1000, 0x3000});
  CHECK_EQ(driver_bytes(feed), 100);
  CHECK_EQ(feed.model.process(0)->memory.maps(), 1u);
}

TEST(an_undone_unmap_and_an_undone_release_bring_handles_back) {
  Feed feed;
  feed.put({GMT_PHYSICAL_CREATE, 5, 100});
  feed.put({GMT_MAP, 0x1000, 100}, of_handle(5));
  feed.put({GMT_PHYSICAL_RELEASE, 5});
  feed.put({GMT_UNMAP, 0x1000, 100});
  CHECK_EQ(driver_bytes(feed), 0);
  feed.put({GMT_FREE_UNDONE, 0x1000, GMT_UNMAP});
  CHECK_EQ(driver_bytes(feed), 100);
  CHECK_EQ(feed.model.process(0)->memory.maps(), 1u);
  feed.put({GMT_UNMAP, 0x1000, 100});
  CHECK_EQ(driver_bytes(feed), 0);

  feed.put({GMT_PHYSICAL_CREATE, 6, 300});
  feed.put({GMT_PHYSICAL_RELEASE, 6});
  feed.put({GMT_FREE_UNDONE, 6, GMT_PHYSICAL_RELEASE});
  CHECK_EQ(driver_bytes(feed), 300);
  feed.put({GMT_PHYSICAL_RELEASE, 6});
  CHECK_EQ(driver_bytes(feed), 0);
}

TEST(a_handles_number_may_be_used_again_while_its_memory_is_mapped) {
  Feed feed;
  feed.put({GMT_PHYSICAL_CREATE, 5, 100});
  feed.put({GMT_MAP, 0x1000, 100}, of_handle(5));
  feed.put({GMT_PHYSICAL_RELEASE, 5});
  feed.put({GMT_PHYSICAL_CREATE, 5, 30});
  CHECK_EQ(driver_bytes(feed), 130);
  feed.put({GMT_UNMAP, 0x1000, 100});
  CHECK_EQ(driver_bytes(feed), 30);
  feed.put({GMT_PHYSICAL_RELEASE, 5});
  CHECK_EQ(driver_bytes(feed), 0);
  CHECK_EQ(feed.totals(Layer::Driver).implied_frees, 0u);
}

TEST(imports_are_rows_without_bytes) {
  Feed feed;
  feed.put({GMT_IMPORT, 0x1000, 4096});
  feed.put({GMT_IMPORT, 99, 100});
  CHECK_EQ(driver_bytes(feed), 0);
  REQUIRE(driver_rows(feed).total == 2);
  CHECK_EQ(driver_rows(feed).sum_bytes, 0);
  CHECK_EQ(driver_rows(feed).rows[0].bytes, 4096u);
  CHECK_EQ(driver_rows(feed).rows[0].kind, GMT_IMPORT);
  feed.put({GMT_IMPORT, 0x1000, 4096});  // opened twice: closed twice
  feed.put({GMT_IMPORT_CLOSE, 0x1000});
  CHECK_EQ(driver_rows(feed).total, 2u);
  feed.put({GMT_IMPORT_CLOSE, 0x1000});
  CHECK_EQ(driver_rows(feed).total, 1u);
  feed.put({GMT_PHYSICAL_RELEASE, 99});
  CHECK_EQ(driver_rows(feed).total, 0u);
  feed.put({GMT_IMPORT, 0x3000, 64});
  feed.put({GMT_FREE, 0x3000});  // mapped buffers of external memory end so
  CHECK_EQ(driver_rows(feed).total, 0u);
  CHECK_EQ(feed.totals(Layer::Driver).unmatched_frees, 0u);
}

TEST(a_destroyed_context_takes_its_memory_along) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 100}, in_context(0xc1));
  feed.put({GMT_DEVICE_ALLOC, 0x2000, 200}, in_context(0xc2));
  feed.put({GMT_HOST_ALLOC, 0x3000, 300, GMT_DEVICE_NONE}, in_context(0xc1));
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 50});
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 400}, in_context(0xc1), 1);
  feed.put({GMT_CONTEXT_DESTROY, 0xc1});
  CHECK_EQ(driver_bytes(feed), 200);
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).live_bytes, 0);
  CHECK_EQ(feed.totals(Layer::Tensor).live_bytes, 50);
  CHECK_EQ(feed.totals(Layer::Driver, 0, 1).live_bytes, 400);
  CHECK_EQ(feed.totals(Layer::Driver).frees, 1u);
  feed.put({GMT_FREE_UNDONE, 0xc1, GMT_CONTEXT_DESTROY});
  CHECK_EQ(driver_bytes(feed), 300);
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).live_bytes, 300);
}

TEST(a_reset_device_loses_all_and_only_its_own_memory) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 100, 0}, in_context(0xc1));
  feed.put({GMT_DEVICE_ALLOC, 0x2000, 200, 1}, in_context(0xc2));
  feed.put({GMT_PHYSICAL_CREATE, 8, 400, 0});
  feed.put({GMT_MAP, 0x9000, 400}, of_handle(8));
  feed.put({GMT_HOST_ALLOC, 0x3000, 300, GMT_DEVICE_NONE}, in_context(0xc1));
  feed.put({GMT_HOST_ALLOC, 0x4000, 500, GMT_DEVICE_NONE}, in_context(0xc2));
  feed.put({GMT_DEVICE_RESET, 0, 0, 0});
  CHECK_EQ(driver_bytes(feed, 0), 0);
  CHECK_EQ(driver_bytes(feed, 1), 200);
  CHECK_EQ(feed.totals(Layer::Host, GMT_DEVICE_NONE).live_bytes, 500);
  CHECK_EQ(feed.model.process(0)->memory.maps(), 0u);
}

TEST(an_allocation_names_its_stream) {
  Feed feed;
  gmt_driver_detail detail = in_context(1);
  detail.stream = 0xabc;
  feed.put({GMT_ASYNC_ALLOC, 0x1000, 100}, detail);
  REQUIRE(driver_rows(feed).total == 1);
  CHECK_EQ(driver_rows(feed).rows[0].stream, 0xabcu);
}

TEST_MAIN
