// Opening logs: versions, damage, growth.
#include "trace/log/log_file.h"

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "check.h"
#include "inject/log/clock_pair.h"
#include "log_writer.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

namespace {
std::string error_of_log(const std::string &path) {
  auto log = trace::LogFile::open(path);
  return log ? "" : log.error();
}
bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST(a_log_grows_while_it_is_open) {
  TemporaryFolder folder;
  LogWriter writer(folder.path());
  auto log = trace::LogFile::open(writer.path());
  REQUIRE(log && log.value().ready());
  CHECK_EQ(log.value().chunk_count(), 0u);
  CHECK(!log.value().chunk(0).slots_begin);
  // Over the border of the reader's regions of 64 MiB.
  for (int i = 0; i < 300; ++i) {
    writer.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
    writer.end_chunk(0);
  }
  CHECK(!log.value().refresh());
  CHECK_EQ(log.value().chunk_count(), 300u);
  for (uint64_t i = 0; i < 300; ++i) {
    trace::ChunkView view = log.value().chunk(i);
    REQUIRE(view.slots_begin && log.value().chunk_header(i).index == i && view.slots == GMT_SLOTS_PER_CHUNK);
  }
}

TEST(one_thread_at_a_time_stores_the_pair_of_clocks) {
  gmt_file_header header{};
  uint32_t storing = 0;
  inject::store_clock_pair(&header, &storing, [&] {
    inject::store_clock_pair(&header, &storing, [] { return ClockPair{5, 5}; });
    CHECK_EQ(header.latest_ticks, 0u);
    return ClockPair{6, 7};
  });
  CHECK(header.latest_ticks == 6 && header.latest_monotonic_ns == 7);
}

TEST(the_pair_of_clocks_is_of_one_moment_however_many_threads_renew_it) {
  TemporaryFolder folder;
  LogWriter writer(folder.path());
  auto log = trace::LogFile::open(writer.path());
  REQUIRE(log);
  uint32_t storing = 0;
  std::atomic<uint64_t> now{1};
  std::atomic<bool> over{false};
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i)
    writers.emplace_back([&] {
      while (!over)
        inject::store_clock_pair(&writer.header(), &storing, [&] {
          const uint64_t moment = now++;
          return ClockPair{moment, moment};
        });
    });
  uint64_t pairs = 0, torn = 0;
  while (pairs < 200'000 || now < 2'000'000) {
    const gmt_file_header header = log.value().header();
    pairs += header.latest_ticks != 0;
    torn += header.latest_ticks != header.latest_monotonic_ns;
  }
  over = true;
  for (std::thread &one : writers) one.join();
  CHECK_EQ(torn, 0u);
}

TEST(a_log_that_is_being_created_is_not_ready) {
  TemporaryFolder folder;
  std::string path = folder / ("1-0" GMT_LOG_SUFFIX);
  std::ofstream(path).put(0);
  auto log = trace::LogFile::open(path);
  REQUIRE(log);
  CHECK(!log.value().ready());
  std::filesystem::resize_file(path, GMT_FILE_HEADER_BYTES);
  CHECK(!log.value().refresh());
  CHECK(!log.value().ready());
}

TEST(bad_headers_get_a_sentence) {
  TemporaryFolder folder;
  LogWriter writer(folder.path());
  writer.header().version = GMT_LOG_VERSION + 1;
  CHECK(has(error_of_log(writer.path()), "newer version"));
  CHECK(has(error_of_log(writer.path()), "update GPU Memory Trace"));
  writer.header().version = GMT_LOG_VERSION;
  writer.header().chunk_bytes = 4096;
  CHECK(has(error_of_log(writer.path()), "damaged header"));
  writer.header().chunk_bytes = GMT_CHUNK_BYTES;
  writer.header().magic = 1;
  CHECK(has(error_of_log(writer.path()), "not a GPU Memory Trace log"));
  CHECK(has(error_of_log(folder / "absent"), "Cannot open"));
  CHECK(has(error_of_log(folder.path()), "not a regular file"));
}

TEST(an_older_version_gets_a_sentence) {
  TemporaryFolder folder;
  LogWriter writer(folder.path());
  writer.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  writer.header().version = 0;
  CHECK(has(error_of_log(writer.path()), "has format 0, which this GPU Memory Trace cannot read"));
}

TEST(sizes_of_any_length_are_read) {
  TemporaryFolder folder;
  LogWriter writer(folder.path());
  const uint64_t sizes[] = {0,          512,        (1ull << 47) + 5, GMT_SIZE_EXACT - 1,
                            1ull << 48, 1ull << 50, 3ull << 61,       ~0ull << 52};
  for (const uint64_t bytes : sizes) writer.add_event(0, GMT_DEVICE_ALLOC | GMT_FAILED, 0, bytes);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.events().size() == std::size(sizes));
  for (size_t i = 0; i < std::size(sizes); ++i) CHECK_EQ(reading.events()[i].bytes, sizes[i]);
}

TEST_MAIN
