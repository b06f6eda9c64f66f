// Events a second that the model takes, alone and behind the reader, and how long windows of rows take.
//   model_bench [millions of events, default 10]
#include <cstdio>
#include <ctime>

#include "check.h"
#include "load.h"
#include "session/trace_names.h"
#include "trace/log_merger.h"

using namespace gmt::test;

namespace {

/// CPU time of this thread: a machine that is busy with other things does not count.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void print_rate(const char *what, uint64_t events, double time) {
  std::printf("%-34s %9.1f M events/s %7.1f ns/event\n", what, static_cast<double>(events) / time * 1e-6,
              time * 1e9 / static_cast<double>(events));
}

void model_alone(Pattern pattern, gmt::test::Feed &feed, uint64_t events) {
  constexpr size_t kBlock = 1'000'000, kBatch = 4096;
  std::vector<gmt::trace::Event> block(kBlock);
  Load load(pattern);
  double time = 0;
  uint64_t sequence = 0;
  for (uint64_t done = 0; done < events; done += kBlock) {
    for (gmt::trace::Event &event : block) {
      const gmt::test::Step step = load.next();
      ++sequence;
      event = {sequence, sequence * 1000, step.address, step.bytes, step.stack, 0,
               0,        step.thread,     step.device,  step.kind};
    }
    const double begin = seconds();
    for (size_t at = 0; at < kBlock; at += kBatch) {
      feed.model.ingest({0, {block.data() + at, std::min(kBatch, kBlock - at)}, {}, {}});
    }
    time += seconds() - begin;
  }
  print_rate("model alone", events, time);
}

template <typename Ask>
void print_query(const char *what, Ask ask) {
  double worst = 0, sum = 0;
  constexpr int kTimes = 20;
  for (int i = 0; i < kTimes; ++i) {
    const double begin = seconds();
    ask();
    const double time = seconds() - begin;
    worst = std::max(worst, time);
    sum += time;
  }
  std::printf("%-34s %9.2f ms mean %8.2f ms worst\n", what, sum / kTimes * 1e3, worst * 1e3);
}

void queries(gmt::test::QueriedModel &model) {
  gmt::model::SiteQuery query;
  query.to = 50;
  print_query("50 sites by live bytes", [&] { model.sites(query); });
  query.sort = gmt::model::SiteSort::Growth;
  print_query("50 sites by growth", [&] { model.sites(query); });
  query.sort = gmt::model::SiteSort::Label;
  print_query("50 sites by label", [&] { model.sites(query); });
  query.sort = gmt::model::SiteSort::LiveBytes;
  query.group_by = gmt::model::GroupBy::Line;
  print_query("50 lines", [&] { model.sites(query); });
  query.filter = "module1 >1MB";
  print_query("50 lines, filtered", [&] { model.sites(query); });
  query.filter = "";
  query.births = {model.now_ns() / 2, model.now_ns()};
  print_query("50 lines, born in a span", [&] { model.sites(query); });
  query.births = {};
  query.filter = "age>5steps";
  print_query("50 lines, by age", [&] { model.sites(query); });
  query.filter = "weight";
  print_query("50 lines, by name", [&] { model.sites(query); });
  query.filter = "";
  query.group_by = gmt::model::GroupBy::Category;
  print_query("categories", [&] { model.sites(query); });
  gmt::model::AllocationQuery blocks;
  blocks.births = {model.now_ns() / 2, model.now_ns()};
  print_query("100 blocks born in a span", [&] { model.allocations(blocks); });
  blocks.births = {};
  blocks.filter = "module1";
  print_query("100 blocks, filtered", [&] { model.allocations(blocks); });
  blocks.filter = "";
  blocks.sort = gmt::model::AllocationSort::Address;
  print_query("100 blocks by address", [&] { model.allocations(blocks); });
  blocks.sort = gmt::model::AllocationSort::Bytes;
  print_query("100 blocks of all by bytes", [&] { model.allocations(blocks); });
  gmt::model::SiteSeriesQuery series;
  print_query("series of 100 sites", [&] { model.site_series(series); });
  print_query("series of a device", [&] { model.ledger_series({}); });
  print_query("gaps in the segments of a device", [&] { model.fragmentation(0, 0); });
  print_query("segments and 100,000 blocks", [&] { model.segments({}); });
  gmt::model::TimelineQuery line;
  line.to_ns = model.now_ns();
  print_query("1,000 buckets of the timeline", [&] { model.timeline(line); });
}

void behind_reader(Pattern pattern, uint64_t events) {
  const gmt::test::TemporaryFolder folder;
  write_log(pattern, folder.path(), events);
  auto opened = gmt::trace::LogMerger::open(folder.path());
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().c_str());
    std::exit(1);
  }
  auto reader = std::move(opened.value());
  const gmt::session::TraceNames names(*reader);
  gmt::model::Model model(names);
  double begin = seconds();
  while (reader->poll([&](const gmt::trace::Batch &batch) { model.ingest(batch); }, 65536).more) {
  }
  print_rate("reader and model", model.state().events, seconds() - begin);
  auto again = std::move(gmt::trace::LogMerger::open(folder.path()).value());
  begin = seconds();
  uint64_t count = 0;
  while (again->poll([&](const gmt::trace::Batch &batch) { count += batch.events.size(); }, 65536).more) {
  }
  print_rate("reader alone", count, seconds() - begin);
}

}  // namespace

int main(int argc, char **argv) {
  const uint64_t events = 1'000'000ull * (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10);
  std::printf("%llu M events, %zu blocks alive, %u sites, %u threads, CPU time of one thread\n",
              static_cast<unsigned long long>(events / 1'000'000), kLive, kSites, kThreads);
  for (const Pattern pattern : {Pattern::Training, Pattern::Random}) {
    std::printf("\n%s\n", pattern == Pattern::Training ? "training steps" : "random lifetimes");
    gmt::test::Feed feed;
    for (uint32_t stack = 1; stack <= kSites; ++stack) {
      feed.names.set(stack,
                     {{"/site-packages/torch/nn/linear.py", 125, "forward"}, {file_of(stack), stack, "forward"}});
    }
    model_alone(pattern, feed, events);
    behind_reader(pattern, events);
    if (pattern == Pattern::Random) queries(feed.model);
  }
  return 0;
}
