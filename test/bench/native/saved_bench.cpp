// What a saved trace takes, and how soon it answers: as a whole, and as of moments at random. Of opening, the processor time.
//   saved_bench FOLDER [millions of events, default 100 [random]]    FOLDER has room for the log, 32 bytes an event; random: tensors
//                                                                    of 5000 lines, each of another size in each step
//   saved_bench open FILE [moments, default 20]
//   saved_bench live FOLDER MILLIONS PER_SECOND                      a training that goes on until its standard input ends; see lateReader.mjs
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "check.h"
#include "load.h"
#include "session/modelled_trace.h"
#include "trace/saved/save.h"

using namespace gmt;
using namespace gmt::test;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double resident_mib() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double most_resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  }
  return 0;
}

/// Opens, reads what is left, and asks for the 50 biggest lines. Processor time: it does not wait.
double answer_seconds(const std::string &path, uint64_t until_ns, uint64_t latest_ns, uint64_t *end_ns = nullptr) {
  const double begin = processor_seconds();
  auto opened = std::move(session::open(path, until_ns, latest_ns).value());
  while (opened->poll(16384)) {
  }
  model::SiteQuery query;
  query.group_by = model::GroupBy::Line;
  query.to = 50;
  if (model::sites(opened->model.settled(), query).rows.empty() && until_ns > 1'000'000'000) std::abort();
  if (end_ns) *end_ns = opened->model.state().now_ns;
  return processor_seconds() - begin;
}

void measure(const std::string &path, int moments) {
  constexpr uint64_t kEnd = trace::LogMerger::kToTheEnd;
  uint64_t end_ns = 0;
  const double whole = answer_seconds(path, kEnd, kEnd, &end_ns);
  std::printf("opened to the first answer           %9.3f s %8.0f MiB resident\n", whole, resident_mib());
  std::mt19937_64 random(1);
  double sum = 0, worst = 0;
  for (int i = 0; i < moments; ++i) {
    const uint64_t until = random() % end_ns;
    const double took = answer_seconds(path, until, until);
    sum += took;
    worst = std::max(worst, took);
  }
  std::printf("a moment                             %9.3f s mean %6.3f s worst %8.0f MiB at most\n", sum / moments,
              worst, most_resident_mib());
  std::printf("read from its begin                  %9.3f s\n", answer_seconds(path, kEnd, 0));
}

/// Steps of a transformer's training: 24 layers, each with the same tensors in each step, and the same places for them; of each step
/// one more stays. Calls take 2 to 18 us; every 100th step something else happens besides.
void write_training(
    const std::string &directory, uint64_t events, const LogOptions &options = {},
    const std::function<void(LogWriter &)> &after_step = [](LogWriter &) {}) {
  constexpr uint32_t kLayers = 24, kTensors = 30;
  LogWriter log(directory, options);
  const uint16_t thread = log.add_thread(100, "python"), engine = log.add_thread(101, "pt_autograd_0");
  std::vector<uint32_t> stacks;
  for (uint32_t line = 1; line <= kLayers * kTensors + 2; ++line) {
    stacks.push_back(log.add_stack_of(thread, {{"/lib/python3.11/site-packages/torch/nn/linear.py", "forward", 125},
                                               {"src/block" + std::to_string(line % kLayers) + ".py", "forward", line},
                                               {"train.py", "main", 40}}));
  }
  std::mt19937_64 random(1);
  const auto put = [&](uint16_t by, uint8_t kind, uint64_t place, uint64_t bytes, uint32_t line) {
    log.step_ns = 2'000 + random() % 16'000;
    log.add_event(by, kind, 0x7f0000000000ull + place * (4 << 20), bytes, 0,
                  kind == GMT_TENSOR_ALLOC ? stacks[line] : 0);
  };
  for (uint64_t step = 1; log.next_sequence() < events; ++step) {
    const auto size = [](uint32_t at) { return 512ull * (1 + at * 7919 % 4000); };
    for (uint32_t at = 0; at < kLayers * kTensors; ++at) {
      put(thread, GMT_TENSOR_ALLOC, at, size(at), at);
      put(thread, GMT_TENSOR_ALLOC, 2000 + at % 3, size(at), at);  // gone at once
      put(thread, GMT_TENSOR_FREE, 2000 + at % 3, size(at), 0);
    }
    put(thread, GMT_TENSOR_ALLOC, 10'000 + step, 512, kLayers * kTensors);  // kept
    for (uint32_t i = 0; step % 100 == 0 && i < 50; ++i) {
      const uint64_t bytes = 512 * (1 + random() % 5000);
      put(thread, GMT_TENSOR_ALLOC, 5000, bytes, kLayers * kTensors + 1);
      put(thread, GMT_TENSOR_FREE, 5000, bytes, 0);
    }
    for (uint32_t at = kLayers * kTensors; at-- > 0;) {
      put(engine, GMT_TENSOR_ALLOC, 3000 + at % 2, size(at), at);
      put(engine, GMT_TENSOR_FREE, at, size(at), 0);
      put(engine, GMT_TENSOR_FREE, 3000 + at % 2, size(at), 0);
    }
    log.add_event(thread, GMT_STEP, step, 0, GMT_DEVICE_NONE);
    after_step(log);
  }
  log.end();
}

void live(const std::string &folder, uint64_t events, double per_second) {
  const auto begin = std::chrono::steady_clock::now();
  write_training(folder, events, LogOptions::alive(), [&](LogWriter &log) {
    const auto done = static_cast<double>(log.next_sequence());
    std::this_thread::sleep_until(begin + std::chrono::duration<double>(done / per_second));
    if (log.next_sequence() < events) return;
    std::printf("%llu\n", static_cast<unsigned long long>(log.next_sequence() - 1));
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
  });
}

void save_log(const std::string &folder, uint64_t events, bool hard) {
  const std::string live = folder + "/live", target = folder + "/bench.gputrace";
  std::filesystem::create_directories(live);
  hard ? write_log(Pattern::Training, live, events) : write_training(live, events);
  const auto begin = std::chrono::steady_clock::now();
  const auto status = session::save(live, target, "{}", {});
  std::filesystem::remove_all(live);
  if (status) std::printf("%s\n", status->message.c_str());
  const double took = seconds_since(begin);
  const auto bytes = static_cast<double>(std::filesystem::file_size(target));
  const auto count = static_cast<double>(events);
  double kept = 0;
  const auto places = trace::read_container(target).value().checkpoints;
  for (const trace::CheckpointLocation &place : places) kept += static_cast<double>(place.header.bytes);
  std::printf("%.0f M events: saved in %.1f s, %.2f bytes an event, of them %.2f for %zu checkpoints\n", count / 1e6,
              took, bytes / count, kept / count, places.size());
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (std::string(argv[1]) == "live" && argc > 4)
    return live(argv[2], 1'000'000ull * std::strtoull(argv[3], nullptr, 10), std::atof(argv[4])), 0;
  if (std::string(argv[1]) == "open" && argc > 2) return measure(argv[2], argc > 3 ? std::atoi(argv[3]) : 20), 0;
  save_log(argv[1], 1'000'000ull * (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100), argc > 3);
  const std::string target = std::string(argv[1]) + "/bench.gputrace";
  std::fflush(stdout);
  return execl("/proc/self/exe", argv[0], "open", target.c_str(), nullptr);
}
