// What blocks are for, who frees them, where the gaps are, and what is kept when memory runs out.
#include <cmath>
#include <random>

#include "check.h"
#include "model/ingest/events.h"
#include "model_step_feed.h"

using namespace gmt::test;
using namespace gmt::model;

namespace {

constexpr uint64_t kMiB = 1ull << 20;

/// The framework takes a segment from the driver.
void add_segment(Feed &feed, uint64_t address, uint64_t bytes, uint64_t reserved, uint8_t device = 0) {
  feed.put({GMT_DEVICE_ALLOC, address, bytes, device});
  feed.put({GMT_RESERVED, 0, reserved, device});
}
int64_t bytes_of(const Feed &feed, uint8_t category, uint8_t device = 0) {
  const auto &sums = feed.model.process(0)->names.sums();
  const auto found = sums.find({device, category});
  return found == sums.end() ? 0 : found->second.bytes;
}

}  // namespace

TEST(a_name_is_of_the_block_that_was_there_then) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  feed.put_name({1, 0x1000, 0, GMT_CATEGORY_PARAMETER, "layer.weight"});
  CHECK_EQ(bytes_of(feed, GMT_CATEGORY_PARAMETER), 100);
  feed.put_name({4, 0x2000, 0, GMT_CATEGORY_GRADIENT, "layer.weight.grad"});  // read before the event that it names
  feed.allocate(0x2000, 30);
  feed.free(0x2000);
  feed.allocate(0x2000, 40);  // event 4
  CHECK_EQ(bytes_of(feed, GMT_CATEGORY_GRADIENT), 40);
  feed.free(0x1000);
  feed.allocate(0x1000, 7);
  CHECK_EQ(bytes_of(feed, GMT_CATEGORY_PARAMETER), 0);
  AllocationQuery query;
  const auto rows = feed.blocks(query).rows;
  REQUIRE(rows.size() == 2);
  CHECK_EQ(rows[0].name, "layer.weight.grad");
  CHECK_EQ(rows[0].category, GMT_CATEGORY_GRADIENT);
  CHECK_EQ(rows[1].name, "");
  CHECK_EQ(rows[1].category, kUnnamed);
}

TEST(a_later_name_replaces_the_one_before) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  feed.put_name({1, 0x1000, 0, GMT_CATEGORY_OTHER, "x"});
  feed.put_name({1, 0x1000, 0, GMT_CATEGORY_OPTIMIZER, "exp_avg"});
  feed.put_name({1, 0x9000, 0, GMT_CATEGORY_OPTIMIZER, "nothing is there"});
  CHECK_EQ(bytes_of(feed, GMT_CATEGORY_OTHER), 0);
  CHECK_EQ(bytes_of(feed, GMT_CATEGORY_OPTIMIZER), 100);
  CHECK_EQ(feed.blocks().rows[0].name, "exp_avg");
}

TEST(an_earlier_state_takes_the_names_that_blocks_got_later) {
  const auto begin = [](StepFeed &feed) {
    feed.allocate(0x1000, 100);
    feed.allocate(0x2000, 30);
    feed.allocate(0x3000, 5);
  };
  StepFeed earlier, later;
  begin(earlier);
  begin(later);
  earlier.put_name({1, 0x3000, 0, GMT_CATEGORY_BUFFER, "known"});
  later.put_name({3, 0x3000, 0, GMT_CATEGORY_OTHER, "x"});
  later.free(0x2000);
  later.allocate(0x2000, 30);  // another block
  later.put_name({5, 0x1000, 0, GMT_CATEGORY_PARAMETER, "weight"});
  later.put_name({5, 0x2000, 0, GMT_CATEGORY_GRADIENT, "weight.grad"});
  later.free(0x1000);
  earlier.model.add_names(first_names(later.model.state(), later.model.state().now_ns));
  CHECK_EQ(bytes_of(earlier, GMT_CATEGORY_PARAMETER), 100);
  CHECK_EQ(bytes_of(earlier, GMT_CATEGORY_GRADIENT), 0);
  CHECK_EQ(bytes_of(earlier, GMT_CATEGORY_BUFFER), 5);
  CHECK_EQ(bytes_of(earlier, GMT_CATEGORY_OTHER), 0);
}

TEST(ages_are_steps_that_ended_since) {
  StepFeed feed;
  feed.allocate(0x1000, 3);
  feed.end_step();
  feed.end_step();
  feed.allocate(0x2000, 2);
  feed.end_step();
  feed.allocate(0x3000, 1);
  const auto rows = feed.blocks().rows;
  REQUIRE(rows.size() == 3);
  CHECK_EQ(rows[0].step, 1u);
  CHECK_EQ(rows[0].age_steps, 3u);
  CHECK_EQ(rows[1].step, 3u);
  CHECK_EQ(rows[1].age_steps, 1u);
  CHECK_EQ(rows[2].age_steps, 0u);
}

TEST(lines_that_free_are_counted_by_their_frames) {
  StepFeed feed;
  feed.names.set(50, {{"train.py", 70, "clear"}});
  feed.names.set(51, {{"train.py", 70, "clear"}});
  feed.names.set(52, {{"train.py", 71, "other"}});
  for (uint64_t i = 1; i <= 9; ++i) feed.allocate(0x1000 * i, 10);
  for (uint64_t i = 1; i <= 8; ++i) {
    feed.free(0x1000 * i, 0, i < 4 ? 50 : i < 6 ? 51 : i == 6 ? 52 : 0);
    if (i == 4) feed.end_step();
  }
  const auto lines = feed.model.free_lines(0);
  REQUIRE(lines.size() == 2);
  CHECK_EQ(lines[0].count, 5u);
  CHECK_EQ(lines[0].last_step, 2u);
  CHECK_EQ(lines[0].stack.frames[0].line, 70u);
  CHECK_EQ(lines[1].count, 1u);
  CHECK(feed.model.free_lines(77).empty());
}

TEST(many_stacks_that_free_leave_the_frequent_ones) {
  StepFeed feed;
  for (uint32_t stack = 100; stack < 1100; ++stack) feed.names.set(stack, {{"f.py", stack, "f"}});
  for (uint32_t i = 0; i < 2000; ++i) {
    feed.allocate(0x1000, 10);
    feed.free(0x1000, 0, i % 2 ? 100 : 101 + i % 999);
  }
  const auto lines = feed.model.free_lines(0);
  REQUIRE(lines.size() == kFreeLines);
  CHECK_EQ(lines[0].stack.frames[0].line, 100u);
  CHECK_EQ(lines[0].count, 1000u);
}

TEST(gaps_lie_between_the_blocks_of_a_segment) {
  Feed feed;
  add_segment(feed, 100 * kMiB, 20 * kMiB, 20 * kMiB);
  add_segment(feed, 200 * kMiB, 2 * kMiB, 22 * kMiB);
  add_segment(feed, 300 * kMiB, 2 * kMiB, 24 * kMiB);
  feed.put({GMT_DEVICE_ALLOC, 400 * kMiB, 8 * kMiB});  // not the framework's
  feed.put({GMT_TENSOR_ALLOC, 101 * kMiB, 2 * kMiB});
  feed.put({GMT_TENSOR_ALLOC, 110 * kMiB, 3 * kMiB});
  feed.put({GMT_TENSOR_ALLOC, 200 * kMiB, 2 * kMiB});
  const Fragmentation known = feed.model.fragmentation(0, 0);
  CHECK_EQ(known.segments, 3u);
  CHECK_EQ(known.segment_bytes, 24 * kMiB);
  CHECK_EQ(known.partly_used_segments, 1u);
  CHECK_EQ(known.empty_bytes, 2 * kMiB);
  CHECK_EQ(known.free_bytes, 17 * kMiB);
  CHECK_EQ(known.largest_free_bytes, 7 * kMiB);
  CHECK_EQ(feed.model.fragmentation(0, 1).segments, 0u);
  CHECK_EQ(feed.model.fragmentation(9, 0).segments, 0u);
}

TEST(mapped_pieces_that_touch_are_one_segment) {
  Feed feed;
  for (uint64_t piece = 0; piece < 3; ++piece) {
    feed.put({GMT_PHYSICAL_CREATE, 1 + piece, 2 * kMiB});
    feed.put({GMT_MAP, 512 * kMiB + piece * 2 * kMiB, 2 * kMiB}, of_handle(1 + piece));
  }
  feed.put({GMT_PHYSICAL_CREATE, 9, 2 * kMiB});
  feed.put({GMT_MAP, 900 * kMiB, 2 * kMiB}, of_handle(9));  // of somebody else: no tensor lies there
  feed.put({GMT_TENSOR_ALLOC, 513 * kMiB, 2 * kMiB});
  const Fragmentation known = feed.model.fragmentation(0, 0);
  CHECK_EQ(known.segments, 1u);
  CHECK_EQ(known.segment_bytes, 6 * kMiB);
  CHECK_EQ(known.free_bytes, 4 * kMiB);
  CHECK_EQ(known.largest_free_bytes, 3 * kMiB);
}

namespace {

/// 12 steps, then one that needs more at line 2, names it, and fails.
void fail_in_step_13(StepFeed &feed) {
  add_segment(feed, 100 * kMiB, 20 * kMiB, 20 * kMiB);
  uint64_t at = 100 * kMiB;
  for (int step = 1; step <= 12; ++step) {
    feed.allocate(at, 1000, 1);
    at += 4096;
    feed.allocate(at, 50, 2);
    feed.free(at);
    feed.end_step();
  }
  feed.put_memory({0, feed.now_ns, ~0ull, 30 * kMiB, 40 * kMiB, 0});
  feed.allocate(at, 9000, 2);
  feed.allocate(at + 16384, 500, 3);
  feed.put_name({feed.sequence(), at, 0, GMT_CATEGORY_ACTIVATION, ""});
  feed.put_name({feed.sequence(), 100 * kMiB, 0, GMT_CATEGORY_GRADIENT, ""});
  feed.put({GMT_TENSOR_OOM, 0, 4 * kMiB, 0, 0, 2});
  feed.free(at);
}

}  // namespace

TEST(a_failure_keeps_who_was_alive_and_what_was_new) {
  StepFeed feed;
  fail_in_step_13(feed);
  REQUIRE(feed.model.state().out_of_memory.size() == 1);
  const OutOfMemory &failure = feed.model.state().out_of_memory[0];
  REQUIRE(failure.snapshot);
  const MemorySnapshot &snapshot = *failure.snapshot;
  CHECK_EQ(snapshot.step, 13u);
  CHECK_EQ(snapshot.tensor_bytes, 21'500);
  CHECK_EQ(*snapshot.reserved_bytes, static_cast<int64_t>(20 * kMiB));
  CHECK_EQ(snapshot.memory->used_bytes, 30 * kMiB);
  CHECK_EQ(snapshot.categories[GMT_CATEGORY_ACTIVATION].bytes, 9'000);
  CHECK_EQ(snapshot.categories[kUnnamed].count, 12);
  CHECK_EQ(snapshot.fragmentation.free_bytes, 20 * kMiB - 21'500);
  REQUIRE(snapshot.sites.size() == 3);
  CHECK_EQ(snapshot.sites[0].live_bytes, 12'000);
  CHECK_EQ(snapshot.sites[0].oldest_step, 1u);
  CHECK_EQ(snapshot.sites[0].grown_bytes, 0);
  CHECK_EQ(snapshot.sites[0].usual_allocated_bytes, 1000.0);
  CHECK_EQ(snapshot.sites[0].step_allocated_bytes, 0.0);
  CHECK_EQ(snapshot.sites[1].live_bytes, 9'000);
  CHECK_EQ(snapshot.sites[1].grown_bytes, 9'000);
  CHECK_EQ(snapshot.sites[1].step_allocated_bytes, 9'000.0);
  CHECK_EQ(snapshot.sites[1].usual_allocated_bytes, 50.0);
  CHECK_EQ(snapshot.sites[1].oldest_step, 13u);
  CHECK_EQ(snapshot.sites[0].activation_bytes, 0);
  CHECK_EQ(snapshot.sites[1].activation_bytes, 9'000);
  CHECK_EQ(snapshot.old_gradient_bytes, 1'000);
}

TEST(what_waits_for_a_stream_is_known_of_the_steps_it_was_asked_in) {
  StepFeed feed;
  feed.allocate(0x1000, 100);
  for (int step = 1; step <= 4; ++step) {
    if (step == 2 || step == 3) feed.put_allocator({feed.sequence(), 100, 100 + 50ull * step, 0});
    if (step == 4) feed.put_allocator({feed.sequence(), 100, 90, 0});  // read between two changes
    feed.allocate(0x1000 + 0x1000ull * step, 1);
    feed.end_step();
  }
  const LedgerSeries series = feed.model.ledger_series({0, 0, 256});
  const std::vector<double> &pending = series.columns[static_cast<size_t>(LedgerColumn::Pending)];
  REQUIRE(pending.size() == 4);
  CHECK(std::isnan(pending[0]));
  CHECK_EQ(pending[1], 100.0);
  CHECK_EQ(pending[2], 150.0);
  CHECK_EQ(pending[3], 0.0);
}

TEST(details_belong_to_one_block_until_it_is_freed) {
  StepFeed feed;
  AllocationQuery by_address;
  by_address.sort = AllocationSort::Address;
  by_address.descending = false;
  feed.allocate(0x1000, 512);
  feed.allocate(0x2000, 1024);
  feed.put_block({feed.sequence(), {0x1000, 0, 500, 0x55, 0, 3, 0, 0}});
  feed.put_block({feed.sequence(), {0x2000, 0, 1000, GMT_UNKNOWN, GMT_UNKNOWN, GMT_UNKNOWN, 0, 0}});
  feed.put_block({feed.sequence(), {0x3000, 0, 7, 0, 0, 0, 0, 0}});  // nothing is there
  auto rows = feed.blocks(by_address).rows;
  REQUIRE(rows.size() == 2);
  CHECK_EQ(rows[0].asked_bytes, 500u);
  CHECK(rows[0].stream != GMT_UNKNOWN);
  CHECK_EQ(rows[0].stream, 0x55u);
  CHECK_EQ(rows[0].pool_owner, 0u);
  CHECK_EQ(rows[0].pool_number, 3u);
  CHECK_EQ(rows[1].asked_bytes, 1000u);
  CHECK_EQ(rows[1].stream, GMT_UNKNOWN);
  CHECK_EQ(rows[1].pool_owner, GMT_UNKNOWN);
  feed.free(0x1000);
  feed.allocate(0x1000, 512);
  rows = feed.blocks(by_address).rows;
  CHECK_EQ(rows[0].asked_bytes, GMT_UNKNOWN);
  CHECK_EQ(rows[0].stream, GMT_UNKNOWN);
}

TEST(the_first_and_the_newest_failures_keep_it) {
  StepFeed feed;
  feed.allocate(0x1000, 10);
  for (size_t i = 0; i < kSnapshots + 5; ++i) {
    feed.now_ns += 20'000'000;
    feed.put({GMT_TENSOR_OOM, 0, 1000 + i});
  }
  const auto &failures = feed.model.state().out_of_memory;
  size_t kept = 0;
  for (const OutOfMemory &failure : failures) kept += failure.snapshot != nullptr;
  CHECK_EQ(kept, kSnapshots);
  CHECK(failures.front().snapshot);
  CHECK(!failures[kFirstSnapshots].snapshot);
  CHECK(failures.back().snapshot);
}

TEST(of_few_failures_that_come_together_the_last_one_keeps_it_however_they_are_read) {
  for (const bool at_once : {true, false}) {
    StepFeed feed;
    feed.allocate(0x1000, 10);
    feed.put_failures(kFirstSnapshots, 2, 2);
    feed.now_ns += 20'000'000;
    for (int i = 0; i < (at_once ? 1 : 5); ++i) feed.put_failures(at_once ? 5 : 1, 2, 2);
    const auto &failures = feed.model.state().out_of_memory;
    REQUIRE(failures.size() == kFirstSnapshots + 5);
    for (size_t i = kFirstSnapshots; i < failures.size(); ++i)
      CHECK_EQ(failures[i].snapshot != nullptr, i + 1 == failures.size());
  }
}

TEST(of_many_failures_that_come_together_one_of_the_last_keeps_it) {
  StepFeed feed;
  feed.allocate(0x1000, 10);
  const size_t count = kOutOfMemory + 5000;
  feed.put_failures(count, 2, 1);  // the last one of them is a wrong argument
  const auto &failures = feed.model.state().out_of_memory;
  CHECK_EQ(feed.model.state().out_of_memory_count, count - 1);
  REQUIRE(failures.size() == kOutOfMemory);
  size_t kept = 0;
  for (const OutOfMemory &failure : failures) kept += failure.snapshot != nullptr;
  CHECK_EQ(kept, kFirstSnapshots + 1);
  const auto last = std::find_if(failures.rbegin(), failures.rend(), [](const auto &one) { return one.snapshot; });
  REQUIRE(failures.front().snapshot && last - failures.rbegin() < 64);
  CHECK_EQ(failures.front().requested_bytes, 1u);
  CHECK_EQ(failures.back().requested_bytes, count - 1);
  CHECK_EQ(last->snapshot->sites[0].live_bytes, 10);
}

TEST(answers_are_joined_and_find_the_blocks_of_their_moment) {
  StepFeed feed;
  feed.allocate(0x7f0000001000, 100);
  feed.end_step();
  feed.allocate(0x7f0000002000, 7);
  feed.free(0x7f0000001000);
  const uint64_t sequence = feed.sequence();
  feed.put_answer({sequence + 1, 3, 0, 2, "{\"a\":[\"0x7f00000010"});
  feed.put_answer({sequence + 1, 3, 1, 2, "00\",139637976735744,17]}"});  // 0x7f0000002000
  CHECK(feed.model.process(0)->answers.answers().empty());
  feed.end_step();  // the event that it was found behind
  const auto &answers = feed.model.process(0)->answers.answers();
  REQUIRE(answers.size() == 1 && answers[0].complete());
  CHECK_EQ(answers[0].text, "{\"a\":[\"0x7f0000001000\",139637976735744,17]}");
  REQUIRE(answers[0].blocks.size() == 1);  // the first was gone when the step ended
  CHECK_EQ(answers[0].blocks[0].bytes, 7u);
  CHECK_EQ(answers[0].blocks[0].step, 2u);
  feed.free(0x7f0000002000);
  const auto blocks = feed.model.blocks(0, {0x7f0000002000, 5});
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].known && !blocks[0].alive);
  CHECK_EQ(blocks[0].bytes, 7u);
  CHECK(!blocks[1].known);
  CHECK(!feed.model.blocks(8, {5})[0].known);
}

TEST(a_block_of_the_driver_is_found_by_its_address_where_it_is_no_segment) {
  Feed feed;
  feed.put({GMT_DEVICE_ALLOC, 0x10000, 4096, 0, 0, 1});
  feed.put({GMT_DEVICE_ALLOC, 0x20000, 8192, 0, 0, 1});
  feed.put({GMT_RESERVED, 0, 8192});
  const auto blocks = feed.model.blocks(0, {0x10000, 0x20000});
  CHECK(blocks[0].known && blocks[0].alive);
  CHECK_EQ(blocks[0].bytes, 4096u);
  CHECK(!blocks[1].known);
}

TEST(what_is_found_at_the_end_of_the_process_is_heard) {
  StepFeed feed;
  feed.allocate(0x7f0000001000, 100);
  feed.end_step();
  feed.put({GMT_PROCESS_ENDING});
  feed.free(0x7f0000001000);  // clean-up: the block lived to the end
  feed.put_answer({feed.sequence(), 0, 0, 1, "0x7f0000001000"});
  const auto &answers = feed.model.process(0)->answers.answers();
  REQUIRE(answers.size() == 1 && answers[0].blocks.size() == 1);
  CHECK(answers[0].blocks[0].alive);
}

TEST(parts_of_answers_do_not_mix) {
  AnswerBook book;
  CHECK(!book.add({0, 1, 1, 2, "late"}, 0));  // its begin is missing
  CHECK(!book.add({0, 1, 0, 2, "a"}, 0));
  CHECK(!book.add({0, 2, 0, 2, "b"}, 0));
  CHECK_EQ(book.add({0, 1, 1, 2, "A"}, 0)->text, "aA");
  CHECK_EQ(book.add({0, 2, 1, 2, "B"}, 0)->text, "bB");
  CHECK_EQ(book.add({0, 0, 0, 1, "first"}, 0)->index, 2u);
  CHECK_EQ(book.add({0, 0, 0, 1, "second"}, 0)->index, 3u);
  CHECK_EQ(book.find(2)->text, "first");
  for (uint32_t i = 0; i < 200; ++i) book.add({0, i, 0, 1, "x"}, 0);
  CHECK_EQ(book.answers().size(), AnswerBook::kAnswers);
  CHECK(!book.find(2));
}

TEST(addresses_are_found_in_any_spelling) {
  const auto found =
      addresses_in("0x7F00 \"0x7f0000001000\" 139637976731649.5 a0x10000 140000000000000, 99999999999999999999999 0x");
  CHECK(found == (std::vector<uint64_t>{0x7f0000001000, 140000000000000}));
}

TEST(what_was_there_before_the_tracer_is_told_apart) {
  Feed feed;
  feed.names.set_before_attach(1);
  feed.names.set(2, {{"a.py", 1, "f"}});
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 500, 0, 0, 1});
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 100, 0, 0, 2});
  feed.put({GMT_STEP, 1, 0, GMT_DEVICE_NONE});
  const auto rows = feed.sites().rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].source == LineSource::BeforeAttach);
  CHECK_EQ(rows[0].label, "allocated before recording");
  CHECK(feed.model.site(rows[0].id)->source == LineSource::BeforeAttach);
  const SiteSeries series = feed.model.site_series({});
  CHECK(series.rows[0].source == LineSource::BeforeAttach);
  CHECK(series.rows[1].source == LineSource::Python);
}

TEST_MAIN

TEST(pinned_memory_is_known_by_its_address_too) {
  Feed feed;
  feed.put({GMT_HOST_ALLOC, 0x5000, 4096, GMT_DEVICE_NONE, 0, 3});
  const auto blocks = feed.model.blocks(0, {0x5000});
  CHECK(blocks[0].known && blocks[0].alive);
  CHECK_EQ(blocks[0].bytes, 4096u);
}
