// A session that ends at a moment is the whole session as it was then.
#include <memory>
#include <random>

#include "check.h"
#include "random_session.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

namespace {

/// Of a batch, what is not later than `until_ns`.
StoredBatch prefix(StoredBatch batch, uint64_t until_ns) {
  uint64_t last = ~0ull;
  while (!batch.events.empty() && batch.events.back().time_ns > until_ns) {
    last = batch.events.back().sequence - 1;
    batch.events.pop_back();
  }
  const auto later = [&](const auto &one) { return one.after > last; };
  std::erase_if(batch.names, later);
  std::erase_if(batch.answers, later);
  std::erase_if(batch.allocators, later);
  std::erase_if(batch.others, later);
  std::erase_if(batch.memories, [&](const trace::Memory &one) { return one.time_ns > until_ns; });
  std::erase_if(batch.ranges, [&](const trace::Range &one) { return one.time_ns > until_ns; });
  return batch;
}

/// The model that got of each process what is not later than `until_ns`.
std::string fed_with_prefix(const Reading &whole, uint64_t until_ns) {
  const session::TraceNames names(*whole.session);
  QueriedModel model(names);
  std::vector<bool> over(whole.session->process_count());
  for (const StoredBatch &kept : whole.batches) {
    const StoredBatch cut = prefix(kept, until_ns);
    if (over[kept.process] || (cut.events.empty() && !kept.events.empty())) {
      over[kept.process] = true;
      continue;
    }
    over[kept.process] = cut.events.size() != kept.events.size();
    model.ingest({cut.process,
                  cut.events,
                  cut.details,
                  cut.autograds,
                  cut.nodes,
                  {cut.names, cut.memories, cut.answers, cut.allocators, cut.others, cut.ranges}});
  }
  return describe(model);
}

std::string read_until(const std::string &path, uint64_t until_ns, bool *live = nullptr) {
  auto reader = std::move(trace::LogMerger::open(path, until_ns).value());
  const session::TraceNames names(*reader);
  QueriedModel model(names);
  while (reader->poll([&](const trace::Batch &batch) { model.ingest(batch); }, 16384).more) {
  }
  if (live) *live = reader->live();
  return describe(model);
}

}  // namespace

TEST(a_session_up_to_any_time_is_the_model_of_the_events_up_to_then) {
  for (const uint32_t processes : {1u, 3u}) {
    std::mt19937 random(processes);
    const TemporaryFolder folder;
    std::vector<Program> programs;
    for (uint32_t i = 0; i < processes; ++i) programs.push_back(start(folder.path(), i));
    for (int i = 0; i < 60'000; ++i) act(programs[random() % programs.size()], random);
    const Reading whole = read_all(folder.path());
    const uint64_t end = whole.batches.back().events.back().time_ns + 1'000'000;
    for (int i = 0; i < 25; ++i) {
      const uint64_t until = i == 0 ? 0 : random() % end;
      bool live = true;
      const std::string answer = read_until(folder.path(), until, &live);
      CHECK(!live);
      CHECK(answer == fed_with_prefix(whole, until));
    }
  }
}

TEST(the_time_itself_is_inside_and_the_processes_that_begin_later_are_not) {
  const TemporaryFolder folder;
  const auto early = start(folder.path(), 0);
  const auto late = start(folder.path(), 1);
  for (int i = 0; i < 3; ++i) {
    early.log->add_event(0, GMT_TENSOR_ALLOC, 1ull + i, 512);
    late.log->add_event(0, GMT_TENSOR_ALLOC, 1ull + i, 512);
  }
  const auto count = [&](uint64_t until_ns, size_t processes) {
    auto reader = std::move(trace::LogMerger::open(folder.path(), until_ns).value());
    uint64_t events = 0;
    reader->poll([&](const trace::Batch &batch) { events += batch.events.size(); });
    CHECK_EQ(reader->process_count(), processes);
    CHECK_EQ(reader->events(), events);
    CHECK(!reader->live());
    return events;
  };
  CHECK_EQ(count(999, 1), 1u);
  CHECK_EQ(count(1000, 1), 2u);
  CHECK_EQ(count(19'999'999, 1), 3u);
  CHECK_EQ(count(20'000'000, 2), 4u);
  CHECK_EQ(count(trace::LogMerger::kToTheEnd, 2), 6u);
}

TEST(a_log_that_grows_is_read_up_to_the_time_and_no_further) {
  const TemporaryFolder folder;
  LogWriter log(folder.path(), LogOptions::alive());
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  auto reader = std::move(trace::LogMerger::open(folder.path(), 5'000).value());
  uint64_t events = 0;
  const auto poll = [&] { reader->poll([&](const trace::Batch &batch) { events += batch.events.size(); }); };
  poll();
  CHECK_EQ(events, 1u);
  log.add_event(0, GMT_TENSOR_ALLOC, 2, 512);
  poll();
  CHECK_EQ(events, 2u);
  log.at(5'001);
  log.add_event(0, GMT_TENSOR_ALLOC, 3, 512);
  poll();
  CHECK_EQ(events, 2u);
  CHECK(!reader->live());
  CHECK(!reader->ended(0));
}

TEST(a_running_process_is_waited_for_until_the_time_is_over) {
  const TemporaryFolder folder;
  LogOptions options = LogOptions::alive();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  options.start_realtime_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000;
  LogWriter log(folder.path(), options);
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  const auto live = [&](uint64_t until_ns) {
    auto reader = std::move(trace::LogMerger::open(folder.path(), until_ns).value());
    reader->poll([](const trace::Batch &) {});
    return reader->live();
  };
  CHECK(live(3'600'000'000'000));
  options.start_realtime_ns -= 10'000'000'000;
  log.header().start_realtime_ns = options.start_realtime_ns;
  CHECK(!live(5'000'000'000));
}

TEST_MAIN
