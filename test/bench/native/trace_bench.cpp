// How fast a log is read: events a second of one core, by the number of threads that wrote it in turns.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "check.h"
#include "log_writer.h"
#include "trace/log_merger.h"

using namespace gmt;
using namespace gmt::test;

namespace {

constexpr uint64_t kEvents = 4'000'000;

void write(LogWriter &log, uint16_t threads, uint64_t burst, bool details) {
  for (uint64_t i = 0; i < kEvents; ++i) {
    uint16_t thread = static_cast<uint16_t>(i / burst % threads);
    if (details) log.add_detail(thread, gmt_driver_detail{});
    log.add_event(thread, details ? GMT_ASYNC_ALLOC : GMT_TENSOR_ALLOC, i * 512, 512);
  }
}

double best_rate(const std::string &folder) {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    auto session = std::move(trace::LogMerger::open(folder).value());
    uint64_t sum = 0;
    auto begin = std::chrono::steady_clock::now();
    session->poll([&](const trace::Batch &batch) { sum += batch.events.size(); });
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (sum != kEvents) std::abort();
    best = std::max(best, static_cast<double>(kEvents) / took.count());
  }
  return best;
}

void row(const char *name, uint16_t threads, uint64_t burst, bool details) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  write(log, threads, burst, details);
  std::printf("%-44s %8.1f M events/s\n", name, best_rate(folder.path()) / 1e6);
}

}  // namespace

int main() {
  row("1 thread", 1, 1, false);
  row("1 thread, each event with driver detail", 1, 1, true);
  row("8 threads, taking turns after 16 events", 8, 16, false);
  row("8 threads, taking turns after each event", 8, 1, false);
  return 0;
}
