// Records that are no events: names of blocks, device memory, answers of the agent, stacks from before the tracer came.
#include "check.h"
#include "log_writer.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

TEST(names_hold_from_behind_the_event_they_were_read_at) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  log.add_name(0, 0x1000, 1, GMT_CATEGORY_PARAMETER, "encoder.weight");
  log.add_event(0, GMT_TENSOR_ALLOC, 0x2000, 512);
  log.add_name(0, 0x2000, 9, GMT_CATEGORY_OTHER, "", 3);
  const Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 1 && reading.batches[0].names.size() == 2);
  const trace::Name &first = reading.batches[0].names[0], &second = reading.batches[0].names[1];
  CHECK_EQ(first.text, "encoder.weight");
  CHECK_EQ(first.address, 0x1000u);
  CHECK_EQ(first.after, 1u);
  CHECK_EQ(first.category, GMT_CATEGORY_PARAMETER);
  CHECK_EQ(first.device, 0);
  CHECK_EQ(second.after, 9u);
  CHECK_EQ(second.device, 3);
  CHECK_EQ(second.text, "");
}

TEST(a_name_of_another_thread_holds_before_what_comes_behind_it) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (uint64_t i = 1; i <= 100; ++i) {
    log.add_event(0, GMT_TENSOR_ALLOC, 0x1000 * i, 512);
    if (i % 10 == 0) log.add_name(1, 0x1000 * i, i, GMT_CATEGORY_GRADIENT, "weight");
  }
  const Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 1 && reading.batches[0].names.size() == 10);
  for (uint64_t i = 0; i < 10; ++i) CHECK_EQ(reading.batches[0].names[i].after, 10 * (i + 1));
}

TEST(a_name_of_another_thread_is_read_before_later_events_of_a_running_process) {
  TemporaryFolder folder;
  LogWriter log(folder.path(), LogOptions::alive());
  auto session = std::move(trace::LogMerger::open(folder.path()).value());
  std::vector<uint64_t> after;
  const auto sink = [&](const trace::Batch &batch) {
    for (const trace::Name &name : batch.records.names) after.push_back(name.after);
  };
  for (uint64_t i = 1; i <= 3; ++i) {
    log.add_event(0, GMT_TENSOR_ALLOC, 0x1000 * i, 512);
    log.add_name(1, 0x1000 * i, log.next_sequence() - 1, GMT_CATEGORY_GRADIENT, "weight");
    for (int more = 0; more < 9; ++more) log.add_event(0, GMT_TENSOR_ALLOC, 0x10, 512);
    session->poll(sink);
  }
  CHECK(after == (std::vector<uint64_t>{1, 11, 21}));
}

TEST(device_memory_has_a_time) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.at(5'000);
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  log.at(7'000);
  log.add_memory(0, 2, ~0ull, 3 << 20, 8 << 20);
  const Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 1 && reading.batches[0].memories.size() == 1);
  const trace::Memory &memory = reading.batches[0].memories[0];
  CHECK_EQ(memory.time_ns, 7'000u);
  CHECK_EQ(memory.after, 1u);
  CHECK_EQ(memory.device, 2);
  CHECK_EQ(memory.process_bytes, ~0ull);
  CHECK_EQ(memory.used_bytes, 3ull << 20);
  CHECK_EQ(memory.total_bytes, 8ull << 20);
}

TEST(what_the_allocator_says_holds_from_behind_its_event) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  log.add_allocator(0, 1, 512, 2048, 4);
  log.add_block(0, {0x1000, 0, 500, 0x55, 0, 3, 2, 0});
  const Reading reading = read_all(folder.path());
  REQUIRE(reading.batches.size() == 1 && reading.batches[0].allocators.size() == 1);
  REQUIRE(reading.batches[0].blocks.size() == 1);
  const trace::Allocator &allocator = reading.batches[0].allocators[0];
  CHECK_EQ(allocator.after, 4u);
  CHECK_EQ(allocator.device, 1);
  CHECK_EQ(allocator.allocated_bytes, 512u);
  CHECK_EQ(allocator.active_bytes, 2048u);
  const gmt::test::BlockDetail &detail = reading.batches[0].blocks[0];
  CHECK_EQ(detail.after, 1u);
  CHECK_EQ(detail.block.address, 0x1000u);
  CHECK_EQ(detail.block.asked_bytes, 500u);
  CHECK_EQ(detail.block.stream, 0x55u);
  CHECK_EQ(detail.block.pool_number, 3u);
  CHECK_EQ(detail.block.device, 2u);
}

TEST(answers_come_without_an_event_of_their_own) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  Reading reading = read_all(folder.path());
  log.add_answer(0, 7, 0, 2, "{\"a\":");
  log.add_answer(0, 7, 1, 2, "1}", 5);
  reading.poll();
  REQUIRE(reading.batches.size() == 2);
  const StoredBatch &batch = reading.batches[1];
  CHECK(batch.events.empty());
  REQUIRE(batch.answers.size() == 2);
  CHECK_EQ(batch.answers[0].text + batch.answers[1].text, "{\"a\":1}");
  CHECK_EQ(batch.answers[1].request, 7u);
  CHECK_EQ(batch.answers[1].part, 1);
  CHECK_EQ(batch.answers[1].parts, 2);
  CHECK_EQ(batch.answers[0].after, 1u);
  CHECK_EQ(batch.answers[1].after, 5u);
}

TEST(records_that_lie_about_their_length_are_damage) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512);
  const auto bytes_of = [](const auto &record) {
    return std::string(reinterpret_cast<const char *>(&record), sizeof record);
  };
  log.add_side_record(0, GMT_NAME, bytes_of(gmt_name{0x1000, 1, 100, 0, 1, 0}) + "short");
  log.add_side_record(0, GMT_ANSWER, bytes_of(gmt_answer{0, 1, 2, 2, 0, 0}));  // there is no third part of two
  log.add_side_record(0, GMT_MEMORY, "x");
  log.add_side_record(0, GMT_ALLOCATOR, "x");
  log.add_block(0, {0x1000, 1, 512, 0, 0, 0, 4711, 0});  // no such device
  log.add_event(0, GMT_TENSOR_ALLOC, 0x2000, 512);
  const Reading reading = read_all(folder.path());
  CHECK_EQ(reading.events().size(), 2u);
  CHECK_EQ(reading.session->losses().count[trace::kLostCorrupt], 5u);
  for (const StoredBatch &batch : reading.batches) {
    CHECK(batch.names.empty() && batch.memories.empty() && batch.answers.empty());
    CHECK(batch.allocators.empty() && batch.blocks.empty());
  }
}

TEST(libraries_are_kept_by_number) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_library(0, 2, "/usr/lib/libnccl.so.2");
  log.add_event(0, gmt_driver_detail{0, 0, 0, 0, 0, 0, 0, 2}, GMT_DEVICE_ALLOC, 0x1000, 512);
  log.add_library(1, 1, "");
  log.add_library(1, 2, "another");  // the first one counts
  const Reading reading = read_all(folder.path());
  const trace::ProcessTables &tables = reading.session->tables(0);
  REQUIRE(tables.library(1) && tables.library(2));
  CHECK_EQ(*tables.library(1), "");
  CHECK_EQ(*tables.library(2), "/usr/lib/libnccl.so.2");
  CHECK(!tables.library(3) && !tables.library(0));
  REQUIRE(reading.batches.size() == 1 && reading.batches[0].details.size() == 1);
  CHECK_EQ(reading.batches[0].details[0].caller, 2u);
  CHECK_EQ(reading.session->losses().count[trace::kLostCorrupt], 0u);
}

TEST(libraries_without_a_number_or_a_whole_path_are_damage) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  log.add_library(0, 0, "/usr/lib/libnone.so");
  const gmt_library longer{1, 100};
  log.add_side_record(0, GMT_LIBRARY, std::string(reinterpret_cast<const char *>(&longer), sizeof longer) + "short");
  log.add_side_record(0, GMT_LIBRARY, "1234");
  log.add_event(0, GMT_TENSOR_ALLOC, 0x2000, 512);
  const Reading reading = read_all(folder.path());
  CHECK_EQ(reading.events().size(), 1u);
  CHECK_EQ(reading.session->losses().count[trace::kLostCorrupt], 3u);
  CHECK(!reading.session->tables(0).library(1));
}

TEST(a_stack_can_say_that_the_tracer_came_later) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  const uint32_t stack = log.add_stack(0, {}, GMT_STACK_BEFORE_ATTACH), other = log.add_stack(0, {});
  log.add_event(0, GMT_TENSOR_ALLOC, 0x1000, 512, 0, stack);
  Reading reading = read_all(folder.path());
  trace::ProcessTables &tables = reading.session->tables(0);
  REQUIRE(tables.resolve(stack));
  CHECK(tables.resolve(stack)->before_attach);
  CHECK(!tables.resolve(other)->before_attach);
}

TEST_MAIN
