// The library that called the driver is a part of the site, and its name where there is no Python line.
#include "check.h"
#include "model_fixture.h"

using namespace gmt;
using namespace gmt::test;

namespace {

gmt_driver_detail called_by(uint32_t library) { return {0, 0, 0, 0, 0, 0, 0, library}; }

model::SiteQuery driver_sites(model::GroupBy group_by = model::GroupBy::Site) {
  model::SiteQuery query;
  query.layer = model::Layer::Driver;
  query.group_by = group_by;
  return query;
}

}  // namespace

TEST(one_line_that_calls_through_two_libraries_is_two_sites) {
  Feed feed;
  feed.names.set(1, {{"train.py", 7, "step"}});
  feed.names.set_library(1, "/opt/torch/lib/libc10_cuda.so");
  feed.names.set_library(2, "/usr/lib/libnccl.so.2");
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 300, 0, 0, 1}, called_by(1));
  feed.put({GMT_DEVICE_ALLOC, 0x2000, 200, 0, 0, 1}, called_by(2));
  feed.put({GMT_DEVICE_ALLOC, 0x3000, 50, 0, 1, 1}, called_by(2));
  feed.put({GMT_DEVICE_ALLOC, 0x4000, 10, 0, 0, 1});
  const auto rows = feed.sites(driver_sites()).rows;
  REQUIRE(rows.size() == 3);
  CHECK_EQ(rows[0].library, "/opt/torch/lib/libc10_cuda.so");
  CHECK_EQ(rows[1].library, "/usr/lib/libnccl.so.2");
  CHECK_EQ(rows[1].live_bytes, 250);
  CHECK_EQ(rows[2].library, "");
  CHECK(rows[0].key != rows[1].key && rows[1].key != rows[2].key && rows[2].key != 0);
  CHECK_EQ(rows[1].label, "train.py:7");
  CHECK_EQ(feed.model.site(rows[1].id)->library, "/usr/lib/libnccl.so.2");
  CHECK_EQ(feed.sites(driver_sites(model::GroupBy::Line)).rows.size(), 1u);
  feed.put({GMT_FREE, 0x2000});
  CHECK_EQ(feed.sites(driver_sites()).rows[1].live_bytes, 50);
}

TEST(a_site_without_a_line_is_named_after_its_library) {
  Feed feed;
  feed.names.set_library(1, "/usr/lib/libnccl.so.2");
  feed.names.set_library(2, "/usr/lib/libcublas.so.13");
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 300}, called_by(1));
  feed.put({GMT_DEVICE_ALLOC, 0x2000, 200}, called_by(2));
  feed.put({GMT_DEVICE_ALLOC, 0x3000, 100});
  const auto rows = feed.sites(driver_sites(model::GroupBy::Line)).rows;
  REQUIRE(rows.size() == 3);
  CHECK_EQ(rows[0].label, "libnccl.so.2");
  CHECK_EQ(rows[1].label, "libcublas.so.13");
  CHECK_EQ(rows[2].label, "no Python line");
  model::SiteQuery query = driver_sites();
  query.filter = "NCCL";
  CHECK_EQ(feed.sites(query).total, 1u);
}

TEST(a_name_that_comes_later_is_found_then) {
  Feed feed;
  feed.names.set_library(2, "/usr/lib/libcublas.so.13");
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 300, 0, 0, 1}, called_by(1));
  feed.put({GMT_DEVICE_ALLOC, 0x2000, 200, 0, 0, 2}, called_by(1));
  auto rows = feed.sites(driver_sites()).rows;
  REQUIRE(rows.size() == 2);
  CHECK_EQ(rows[0].library, "");
  CHECK_EQ(rows[0].key, 0u);
  feed.names.set_library(1, "/usr/lib/libnccl.so.2");
  feed.names.set(1, {{"train.py", 7, "step"}});
  feed.names.set(2, {{"train.py", 7, "step"}});  // the same stack under two numbers
  rows = feed.sites(driver_sites()).rows;
  REQUIRE(rows.size() == 1);
  CHECK_EQ(rows[0].library, "/usr/lib/libnccl.so.2");
  CHECK(rows[0].key != 0);
  CHECK_EQ(rows[0].live_bytes, 500);
  feed.put({GMT_DEVICE_ALLOC, 0x3000, 25, 0, 0, 2}, called_by(1));
  CHECK_EQ(feed.sites(driver_sites()).rows[0].live_bytes, 525);
}

TEST(the_key_of_a_site_does_not_hang_on_the_number_of_its_library) {
  const auto key = [](uint32_t number, const char *path) {
    Feed feed;
    feed.names.set_library(number, path);
    feed.put({GMT_DEVICE_ALLOC, 0x1000, 300}, called_by(number));
    return feed.sites(driver_sites()).rows[0].key;
  };
  CHECK_EQ(key(1, "/usr/lib/libnccl.so.2"), key(7, "/home/u/lib/libnccl.so.2"));
  CHECK(key(1, "/usr/lib/libnccl.so.2") != key(1, "/usr/lib/libcublas.so.13"));
}

TEST(a_number_beyond_all_libraries_is_none) {
  Feed feed;
  gmt_driver_detail detail{};
  detail.caller = ~0ull;
  feed.put({GMT_DEVICE_ALLOC, 0x1000, 300}, detail);
  CHECK_EQ(feed.sites(driver_sites()).rows[0].library, "");
  CHECK(feed.sites(driver_sites()).rows[0].key != 0);
}

TEST_MAIN
