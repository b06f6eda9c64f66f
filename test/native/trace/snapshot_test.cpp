// Memory snapshots of PyTorch as traces: what was recorded, what was there before, what it says of itself.
#include "snapshot_parts.h"

using namespace gmt;
using namespace gmt::test;

TEST(what_is_told_of_the_blocks_that_were_alive_in_the_end) {
  const auto number = [](int64_t value) { return Pickle::number(value); };
  const auto alive = [&](uint64_t offset, int64_t size, int64_t requested) {
    return Pickle::dict({{"address", number(static_cast<int64_t>(kBase + offset))},
                         {"size", number(size)},
                         {"requested_size", number(requested)},
                         {"state", Pickle::text("active_allocated")},
                         {"frames", kFrames}});
  };
  const std::string graph = Pickle::dict({{"device", number(1)},
                                          {"address", number(static_cast<int64_t>(kBase))},
                                          {"total_size", number(2 * kMega)},
                                          {"stream", number(0x5570)},
                                          {"segment_pool_id", Pickle::tuple({number(0), number(3)})},
                                          {"blocks", Pickle::list({alive(0, 1024, 600), alive(1024, 512, -1)})}});
  const std::string plain = segment(8 * kMega, 2 * kMega, {block(8 * kMega, 512, "active_allocated")});
  const auto got = import(snapshot({graph, plain}, {}));
  const auto &blocks = got.reading.batches.back().blocks;
  REQUIRE(blocks.size() == 3);
  CHECK_EQ(blocks[0].block.address, kBase);
  CHECK_EQ(blocks[0].block.asked_bytes, 600u);
  CHECK_EQ(blocks[0].block.stream, 0x5570u);
  CHECK_EQ(blocks[0].block.pool_owner, 0u);
  CHECK_EQ(blocks[0].block.pool_number, 3u);
  CHECK_EQ(blocks[0].block.device, 1u);
  CHECK_EQ(blocks[0].after, got.events.size());
  CHECK_EQ(blocks[1].block.asked_bytes, GMT_UNKNOWN);
  CHECK_EQ(blocks[1].block.pool_number, 3u);
  CHECK_EQ(blocks[2].block.stream, 0u);
  CHECK_EQ(blocks[2].block.pool_owner, GMT_UNKNOWN);
}

TEST(a_history_from_its_beginning) {
  auto got =
      import(snapshot({segment(0, 2 * kMega, {block(0, 1024, "active_allocated"), block(1024, 512, "inactive")})},
                      {Pickle::list({entry("segment_alloc", 0, 2 * kMega, 0), entry("alloc", 0, 600, 1),
                                     entry("alloc", 1024, 100, 2, kFrames, 9), entry("snapshot", 0, 0, 3),
                                     entry("free_requested", 1024, 100, 3), entry("free_completed", 1024, 100, 4)})}));
  CHECK_EQ(got.kinds(), "16 4 1 1 2");
  REQUIRE(got.events.size() == 5);
  CHECK_EQ(got.events[1].bytes, uint64_t{2 * kMega});  // reserved
  CHECK_EQ(got.events[2].bytes, 1024u);                // as the allocator rounded it
  CHECK_EQ(got.events[3].bytes, 512u);
  CHECK_EQ(got.events[4].time_ns, 3000u);
  CHECK(got.events[3].detail != 0);
  CHECK_EQ(got.reading.batches[0].details[got.events[3].detail - 1].stream, 9u);
  const trace::Stack *stack = got.stack(2);
  REQUIRE(stack && stack->frames.size() == 2);
  CHECK_EQ(stack->user_frame, 1);
  CHECK_EQ(stack->frames[1].file, "/a.py");
  CHECK_EQ(stack->frames[1].line, 7u);
  CHECK(!stack->before_attach);
  CHECK_EQ(got.reading.session->start_realtime_ns(), static_cast<uint64_t>(kTime) * 1000);
  CHECK_EQ(got.reading.session->losses().total(), 0u);
  CHECK_EQ(got.notes(), "");
}

TEST(what_was_there_before_the_history) {
  auto got = import(
      snapshot({segment(0, 2 * kMega, {block(0, 512, "active_allocated"), block(512, 512, "inactive")})},
               {Pickle::list({entry("free_completed", 4096, 10, 0), entry("free_requested", 512, 10, 1),
                              entry("free_completed", 512, 10, 2), entry("segment_free", 4 * kMega, kMega, 3)})}));
  // Two segments, each with what is reserved then; three blocks, two of which are known by their free alone; the frees, and a
  // segment that goes.
  CHECK_EQ(got.kinds(), "16 4 16 4 1 1 1 2 2 32 4");
  REQUIRE(got.events.size() == 11);
  CHECK_EQ(got.events[3].bytes, uint64_t{3 * kMega});
  CHECK_EQ(got.events[10].bytes, uint64_t{2 * kMega});
  for (const size_t event : {0u, 2u, 4u, 5u, 6u}) CHECK(got.stack(event)->before_attach);
  CHECK_EQ(got.events[4].address, kBase + 4096);
  CHECK_EQ(got.events[4].bytes, 512u);
  CHECK_EQ(got.events[5].address, kBase + 512);
  CHECK_EQ(got.stack(5)->frames.size(), 0u);
  CHECK_EQ(got.events[6].address, kBase);
  CHECK_EQ(got.stack(6)->frames.size(), 2u);  // the block itself knows who made it
  CHECK_EQ(got.notes(),
           "The history does not cover the beginning (earlier: 3 blocks, 1.50 KiB). A larger max_entries records "
           "more of it.\n");
}

TEST(no_history) {
  auto got = import(snapshot(
      {segment(0, 2 * kMega, {block(0, 512, "active_allocated"), block(512, 512, "active_pending_free")})}, {}));
  CHECK_EQ(got.kinds(), "16 4 1");
  CHECK_EQ(got.notes(), "There is no history, only the live memory at the end (1 block, 0.50 KiB).\n");
  CHECK(got.reading.session->start_realtime_ns() > 1'600'000'000'000'000'000u);
}

TEST(expandable_segments) {
  auto got = import(snapshot(
      {segment(0, 4 * kMega, {block(0, 512, "active_allocated")}, true)},
      {Pickle::list({entry("segment_unmap", 6 * kMega, 2 * kMega, 0), entry("segment_map", 2 * kMega, 6 * kMega, 1),
                     entry("segment_unmap", 4 * kMega, 4 * kMega, 2)})}));
  // Before: [0, 2), and [6, 8) since it is unmapped first; then what is mapped comes in three pieces.
  const std::string before = "22 41 4 22 41 4 1 ", unmap = "42 36 4", map = " 22 41 4 22 41 4 22 41 4 ";
  CHECK_EQ(got.kinds(), before + unmap + map + unmap + " " + unmap);
  uint64_t reserved = 0;
  for (const trace::Event &event : got.events) reserved = event.kind == GMT_RESERVED ? event.bytes : reserved;
  CHECK_EQ(reserved, uint64_t{4 * kMega});
}

TEST(out_of_memory) {
  const std::string oom = Pickle::dict({{"action", Pickle::text("oom")},
                                        {"device_free", Pickle::number(5)},
                                        {"size", Pickle::number(1ll << 40)},
                                        {"time_us", Pickle::number(kTime)},
                                        {"frames", kFrames}});
  auto got = import(snapshot({}, {Pickle::list({}), Pickle::list({oom})}));
  CHECK_EQ(got.kinds(), "3");
  REQUIRE(got.events.size() == 1);
  CHECK_EQ(got.events[0].bytes, 1ull << 40);
  CHECK_EQ(got.events[0].device, 1);
  CHECK(got.stack(0) != nullptr);
}

TEST(devices_are_told_in_the_order_of_time) {
  auto got = import(snapshot({}, {Pickle::list({entry("alloc", 0, 512, 10), entry("alloc", 512, 512, 30)}),
                                  Pickle::list({entry("alloc", 0, 512, 20)})}));
  REQUIRE(got.events.size() == 3);
  CHECK_EQ(got.events[1].device, 1);
  CHECK_EQ(got.events[2].time_ns, 20'000u);
}

TEST(what_the_history_left_out) {
  auto got =
      import(snapshot({segment(0, 2 * kMega, {block(0, 512, "inactive"), block(512, 512, "active_allocated")})},
                      {Pickle::list({entry("alloc", 0, 512, 0), entry("alloc", 512, 512, 1),
                                     entry("free_requested", 512, 512, 2), entry("alloc", 8 * kMega, 512, 3)})}));
  // The block at 0 is gone, the one at 512 came again; of the one outside of all segments nothing is known.
  CHECK_EQ(got.kinds(), "16 4 1 1 2 1 1 2");
  CHECK_EQ(got.notes(), "2 blocks appeared or disappeared without a record in the history.\n");
}

TEST(segments_that_the_history_left_out) {
  auto got = import(
      snapshot({segment(0, 2 * kMega, {}), segment(8 * kMega, 2 * kMega, {})},
               {Pickle::list({entry("segment_alloc", 0, 2 * kMega, 0), entry("segment_alloc", 4 * kMega, 2 * kMega, 1),
                              entry("segment_free", 8 * kMega, 2 * kMega, 2)})}));
  // The one at 4 MB is not there in the end, the one at 8 came again.
  CHECK_EQ(got.kinds(), "16 4 16 4 16 4 32 4 16 4 32 4");
  uint64_t reserved = 0;
  for (const trace::Event &event : got.events) reserved = event.kind == GMT_RESERVED ? event.bytes : reserved;
  CHECK_EQ(reserved, uint64_t{4 * kMega});
  CHECK_EQ(got.notes(), "2 segments appeared or disappeared without a record in the history.\n");
}

TEST(a_segment_that_is_listed_twice_is_there_once) {
  auto got = import(snapshot({segment(0, 2 * kMega, {}), segment(0, 2 * kMega, {})},
                             {Pickle::list({entry("segment_alloc", 0, 2 * kMega, 0)})}));
  CHECK_EQ(got.kinds(), "16 4");
  CHECK_EQ(got.notes(), "");
}

TEST(segments_of_a_history_without_a_list_stay) {
  auto got = import(snapshot({}, {Pickle::list({entry("segment_alloc", 0, 2 * kMega, 0)})}));
  CHECK_EQ(got.kinds(), "16 4");
}

TEST(entries_without_what_they_need) {
  auto got = import(snapshot(
      {Pickle::number(5), segment(0, -1, {})},
      {Pickle::list({Pickle::number(5), entry("alloc", 0, -5, 0), Pickle::dict({}), entry("alloc", 0, 512, 1)})}));
  CHECK_EQ(got.kinds(), "1");
  CHECK_EQ(got.reading.session->losses().count[GMT_LOST_UNSUPPORTED], 5u);
  CHECK_EQ(got.notes(), "5 entries of the snapshot could not be read.\n");
}

TEST(equal_stacks_are_one_and_native_frames_are_not_the_users) {
  const std::string native = Pickle::list(
      {frame("??", "torch::unwind::unwind()", 0), frame("/b/EmptyTensor.cpp", "at::empty", 3), frame("/a.py", "f", 7)});
  auto got = import(
      snapshot({}, {Pickle::list({entry("alloc", 0, 512, 0), entry("alloc", 512, 512, 1),
                                  entry("alloc", 1024, 512, 2, native), entry("alloc", 2048, 512, 3, kNoFrames)})}));
  REQUIRE(got.events.size() == 4);
  CHECK_EQ(got.events[0].stack, got.events[1].stack);
  const trace::Stack *stack = got.stack(2);
  REQUIRE(stack && stack->frames.size() == 2);
  CHECK_EQ(stack->frames[0].function, "at::empty");
  CHECK_EQ(stack->user_frame, 1);
  CHECK_EQ(got.events[3].stack, 0u);
}

TEST(a_stack_without_python_shows_what_autograd_computes) {
  const std::string frames = Pickle::list(
      {frame("CUDACachingAllocator.cpp", "c10::cuda::CUDACachingAllocator::malloc(unsigned long, CUstream_st*)", 0),
       frame("??", "at::native::(anonymous namespace)::addmm_out(at::Tensor&)", 0),
       frame("??", "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)", 0),
       frame("??", "torch::autograd::Node::operator()(std::vector<at::Tensor>&&) const", 0),
       frame("??", "(anonymous namespace)::f", 0)});
  auto got =
      import(snapshot({segment(0, 2 * kMega, {block(0, 1024, "active_allocated")})},
                      {Pickle::list({entry("segment_alloc", 0, 2 * kMega, 0), entry("alloc", 0, 600, 1, frames)})}));
  const trace::Stack *stack = got.stack(2);
  REQUIRE(stack && stack->frames.size() == 5);
  CHECK_EQ(stack->user_frame, 2);
  CHECK_EQ(stack->frames[0].function, "c10::cuda::CUDACachingAllocator::malloc");
  CHECK_EQ(stack->frames[1].function, "at::native::(anonymous namespace)::addmm_out");
  CHECK_EQ(stack->frames[2].function, "torch::autograd::generated::AddmmBackward0::apply");
  CHECK_EQ(stack->frames[3].function, "torch::autograd::Node::operator()");
  CHECK_EQ(stack->frames[4].function, "(anonymous namespace)::f");
  CHECK_EQ(stack->frames[2].file, "");
}

TEST(deep_stacks_lose_native_frames_first) {
  std::vector<std::string> frames;
  for (int i = 0; i < 100; ++i)
    frames.push_back(frame("x.cpp", "native", i)), frames.push_back(frame("/a.py", "f", i + 1));
  auto got = import(snapshot({}, {Pickle::list({entry("alloc", 0, 512, 0, Pickle::list(frames))})}));
  REQUIRE(got.events.size() == 1);
  CHECK_EQ(got.stack(0)->frames.size(), 100u);
  CHECK(got.stack(0)->cut);
}

TEST(long_gaps_between_actions) {
  auto got = import(snapshot({}, {Pickle::list({entry("alloc", 0, 512, 0), entry("alloc", 512, 512, 3'600'000'000)})}));
  REQUIRE(got.events.size() == 2);
  CHECK_EQ(got.events[1].time_ns, 3'600'000'000'000u);
}

TEST(times_that_no_clock_shows_are_not_understood) {
  for (const int64_t time : {INT64_MAX - kTime, int64_t{1} << 62, int64_t{18'446'744'073'709'551}}) {
    std::vector<std::string> entries = {entry("alloc", 0, 512, 0), entry("alloc", 512, 512, time)};
    for (unsigned i = 2; i < 20'000; ++i) entries.push_back(entry("alloc", 512 * i, 512, i));
    auto got = import(snapshot({}, {Pickle::list(entries)}));
    CHECK_EQ(got.events.size(), 19'999u);
    const trace::Losses losses = got.reading.session->losses();
    CHECK_EQ(losses.total(), 1u);
    CHECK_EQ(losses.count[GMT_LOST_UNSUPPORTED], 1u);
    CHECK_EQ(got.events.back().time_ns, 19'999'000u);
  }
}

TEST(what_has_no_time_before_others_happened_with_the_first_of_them) {
  auto got = import(snapshot({}, {Pickle::list({entry("alloc", 0, 512, -kTime), entry("alloc", 512, 512, 5)})}));
  REQUIRE(got.events.size() == 2);
  CHECK_EQ(got.events[1].time_ns / 1000, 0u);  // of one microsecond, in their order
}

TEST(more_than_a_chunk_of_actions) {
  std::vector<std::string> entries;
  const std::string shared = Pickle::keep(0, kFrames);
  for (int i = 0; i < 20'000; ++i)
    entries.push_back(entry("alloc", 512u * static_cast<unsigned>(i), 512, i, i ? Pickle::again(0) : shared, i % 3));
  auto got = import(snapshot({}, {Pickle::list(entries)}));
  CHECK_EQ(got.events.size(), 20'000u);
  CHECK_EQ(got.reading.session->losses().total(), 0u);
  CHECK_EQ(got.events.back().time_ns, 19'999'000u);
}

TEST(nothing_is_lost_however_full_the_last_chunk_is) {
  for (size_t count = 2036; count < 2046; ++count) {
    std::vector<std::string> blocks;
    for (size_t i = 0; i < count; ++i) blocks.push_back(block(512 * i, 512, "active_allocated", kNoFrames));
    auto got = import(snapshot({segment(0, static_cast<int64_t>(512 * count), blocks)}, {}));
    const trace::Losses losses = got.reading.session->losses();
    CHECK_EQ(losses.total(), 0u);
    CHECK_EQ(got.reading.batches.back().blocks.size(), count);
  }
}

TEST(old_snapshots) {
  // PyTorch 1.13: a list of segments, whose blocks have a history.
  const std::string history = Pickle::list({Pickle::dict({{"addr", Pickle::number(1)}, {"frames", kFrames}})});
  const std::string old =
      Pickle::dict({{"size", Pickle::number(512)}, {"state", Pickle::text("active_allocated")}, {"history", history}});
  auto got = import(Pickle::list({Pickle::dict({{"device", Pickle::number(0)},
                                                {"address", Pickle::number(static_cast<int64_t>(kBase))},
                                                {"total_size", Pickle::number(kMega)},
                                                {"blocks", Pickle::list({old, old})}})}));
  CHECK_EQ(got.kinds(), "16 4 1 1");
  REQUIRE(got.events.size() == 4);
  CHECK_EQ(got.events[3].address, kBase + 512);
  CHECK_EQ(got.stack(3)->frames.size(), 2u);
}

TEST(no_snapshot) {
  const std::string none = "x.pickle is not a PyTorch memory snapshot: it has neither segments nor device traces.";
  CHECK_EQ(import(Pickle::dict({{"weights", Pickle::list({})}})).error, none);
  CHECK_EQ(import(Pickle::list({Pickle::number(1)})).error, none);
  CHECK_EQ(import(Pickle::number(1)).error, none);
  CHECK_EQ(import(snapshot({Pickle::number(5)}, {Pickle::list({Pickle::dict({})})})).error,
           "x.pickle is not a PyTorch memory snapshot: none of its 2 entries could be read.");
  CHECK_EQ(import("cos\nsystem\n").error,
           "x.pickle was not opened: at byte 2 it would call os.system; a memory snapshot has only plain data.");
}

TEST(shared_parts_do_not_multiply) {
  // A thousand times the same segment with a thousand times the same block.
  std::vector<std::string> blocks{Pickle::keep(1, block(0, 512, "active_allocated"))}, segments;
  for (int i = 1; i < 1000; ++i) blocks.push_back(Pickle::again(1));
  segments.push_back(Pickle::keep(2, segment(0, kMega, blocks)));
  for (int i = 1; i < 1000; ++i) segments.push_back(Pickle::again(2));
  CHECK_EQ(import(snapshot(segments, {})).error, "x.pickle was not opened: it describes more than it contains.");
}

TEST(maps_beyond_all_measure) {
  std::vector<std::string> entries;
  for (int i = 0; i < 12'000; ++i)
    entries.push_back(entry("segment_map", static_cast<uint64_t>(i) << 21, 1ll << 40, i, kNoFrames));
  CHECK_EQ(import(snapshot({}, {Pickle::list(entries)})).error,
           "x.pickle was not opened: its segments are mapped in too many pieces to follow.");
}

TEST_MAIN

TEST(annotations_are_ranges_and_what_the_program_wrote_beside_a_block_is_its_name) {
  const auto annotation = [](std::string_view name, std::string_view stage, int64_t time, int64_t device = 0) {
    return Pickle::dict({{"name", Pickle::text(name)},
                         {"stage", Pickle::text(stage)},
                         {"time_us", Pickle::number(kTime + time)},
                         {"device", Pickle::number(device)}});
  };
  const auto noted = [](uint64_t offset, int64_t time, const std::string &text, const char *region = "N/A") {
    return Pickle::dict({{"action", Pickle::text("alloc")},
                         {"addr", Pickle::number(static_cast<int64_t>(kBase + offset))},
                         {"size", Pickle::number(512)},
                         {"time_us", Pickle::number(kTime + time)},
                         {"user_metadata", text},
                         {"compile_context", Pickle::text(region)},
                         {"frames", kFrames}});
  };
  const std::string annotations =
      Pickle::list({annotation("ProfilerStep#0", "START", 0), annotation("ProfilerStep#0", "START", 0, 1),
                    annotation("forward", "START", 2), annotation("other", "START", 3), annotation("forward", "END", 5),
                    annotation("ProfilerStep#0", "END", 7), annotation("ProfilerStep#0", "END", 7, 1),
                    annotation("never began", "END", 8)});
  const std::string history =
      Pickle::list({noted(0, 1, Pickle::text("kv cache of request 7")), noted(512, 4, Pickle::number(7)),
                    noted(1024, 6, Pickle::text("")), noted(1536, 6, Pickle::text(""), "Torch-Compiled Region: 0/1")});
  auto got = import(Pickle::dict({{"segments", Pickle::list({})},
                                  {"device_traces", Pickle::list({history})},
                                  {"external_annotations", annotations}}));
  std::string ranges;
  for (const StoredBatch &batch : got.reading.batches) {
    for (const trace::Range &one : batch.ranges)
      ranges +=
          std::to_string(one.key & ~GMT_RANGE_STARTED) + one.name + "@" + std::to_string(one.time_ns / 1000) + " ";
  }
  CHECK_EQ(ranges, "1ProfilerStep#0@0 2forward@2 3other@3 2@5 1@7 ");
  CHECK_EQ(got.kinds(), "1 1 1 1 69");
  std::vector<trace::Name> names;
  for (const StoredBatch &batch : got.reading.batches)
    names.insert(names.end(), batch.names.begin(), batch.names.end());
  REQUIRE(names.size() == 2);
  CHECK_EQ(names[1].text, "Torch-Compiled Region: 0/1");
  CHECK_EQ(names[0].text, "kv cache of request 7");
  CHECK_EQ(names[0].address, kBase);
  CHECK_EQ(names[0].after, 1u);
}
