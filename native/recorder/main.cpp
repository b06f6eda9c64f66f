// gpu-memtrace-recorder: see kHelp.
#include <signal.h>
#include <time.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "recorder/recorder.h"

using namespace gmt;

namespace {

constexpr char kHelp[] =
    R"(gpu-memtrace-recorder DIR [--detail BYTES] [--budget BYTES]
  Keeps the trace that is recorded into the directory DIR within bounds, as long as its job lives: what old events made is kept in
  checkpoints, and their space is given back. gpu-memtrace and VS Code start it. There is one for each directory: a second one
  ends at once.
    --detail BYTES   the newest events, which stay in full (default 536870912)
    --budget BYTES   most that all files of the trace may take (default 2147483648)
  Without options it goes on with those of the one that was there before.
Exit status: 0 the job is over, or there is another recorder; 1 it cannot work, told on standard error; 2 wrong arguments.
)";

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Arguments {
  std::string directory;
  std::optional<uint64_t> detail, budget;
};

std::optional<Arguments> arguments_of(int count, char **words) {
  Arguments found;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    std::optional<uint64_t> *to = word == "--detail" ? &found.detail : word == "--budget" ? &found.budget : nullptr;
    if (to && i + 1 < count && (*to = number(words[++i]))) continue;
    if (to || word.starts_with("-") || !found.directory.empty()) return std::nullopt;
    found.directory = word;
  }
  return found.directory.empty() ? std::nullopt : std::optional(found);
}

/// What is not told now was told to the recorder that was here before.
recorder::Limits limits_of(const Arguments &told, session::DirectoryLock &lock) {
  recorder::Limits limits;
  unsigned long long detail = 0, budget = 0;
  if (std::sscanf(lock.text().c_str(), "%llu %llu\n", &detail, &budget) == 2) limits = {detail, budget};
  limits = {told.detail.value_or(limits.detail), told.budget.value_or(limits.budget)};
  lock.write(std::to_string(limits.detail) + " " + std::to_string(limits.budget) + "\n");
  return limits;
}

volatile sig_atomic_t g_ends = 0;

void pause_ms(long ms) {
  const timespec time{0, ms * 1'000'000};
  ::nanosleep(&time, nullptr);
}

int record(const Arguments &told) {
  if (!recorder::directory_is_there(told.directory)) {
    std::fprintf(stderr, "There is no directory %s.\n", told.directory.c_str());
    return 1;
  }
  session::DirectoryLock lock(told.directory, session::DirectoryLock::kRecorder,
                              session::DirectoryLock::Way::kWhenFree);
  if (!lock.opened()) return std::fprintf(stderr, "Cannot open %s/recorder.\n", told.directory.c_str()), 1;
  if (!lock.held()) return 0;
  auto recorder = recorder::Recorder::begin(told.directory, limits_of(told, lock));
  if (!recorder) {
    std::fprintf(stderr, "%s\n", recorder.error().c_str());
    return 1;
  }
  // Idle it looks rarely, so that a quiet job does not notice it.
  constexpr long kBusyMs = 10, kIdleMs = 160;
  for (long ms = kBusyMs; !g_ends && !recorder.value()->over();) {
    const uint64_t before = recorder.value()->events();
    const bool more = recorder.value()->turn();
    ms = recorder.value()->events() != before ? kBusyMs : std::min(ms * 2, kIdleMs);
    if (!more) pause_ms(ms);
  }
  return 0;
}

}  // namespace

int main(int count, char **words) {
  if (count == 2 && (std::string_view(words[1]) == "--help" || std::string_view(words[1]) == "-h"))
    return std::fputs(kHelp, stdout), 0;
  const auto told = arguments_of(count, words);
  if (!told) return std::fputs(kHelp, stderr), 2;
  ::signal(SIGTERM, [](int) { g_ends = 1; });
  ::signal(SIGINT, SIG_IGN);  // Ctrl+C is for the job
  ::signal(SIGHUP, SIG_IGN);
  return record(*told);
}
