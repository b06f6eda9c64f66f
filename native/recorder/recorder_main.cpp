// gpu-memtrace-recorder: see kHelp.
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "recorder/query_server.h"
#include "recorder/recorder.h"
#include "trace/trace_directory.h"
#include "wire/files.h"

using namespace gmt;

namespace {

constexpr char kHelp[] =
    R"(gpu-memtrace-recorder DIR [--detail BYTES] [--budget BYTES] [--copy FILE --every SECONDS] [--end FILE] [--background]
  Limits the size of the trace that is being recorded in DIR until the job ends: older events are stored as totals, and their
  space is freed. gpu-memtrace, VS Code and the Python package start it. Each directory has one; a second one ends at once.
    --detail BYTES   the most recent events to store in full (default 536870912)
    --budget BYTES   maximum size of all files of the trace (default 2147483648)
    --copy FILE      save a copy of the trace there every SECONDS, in case the machine fails, as long as DIR/copies exists
    --end FILE       file of this user with the path to which the trace is saved when the job ends (empty: not saved). DIR is then
                     deleted
  Only the program that starts the job passes --copy and --end: DIR itself never defines where anything is written. If a
  recorder was there before, its --detail and --budget apply.
    --background     run in a session of its own, without a parent
gpu-memtrace-recorder DIR --save FILE
  Saves what has been recorded so far as a trace.
gpu-memtrace-recorder DIR --ask PID [--background]
  Reads queries about that process from standard input and answers each with one line (recorder/query_server.h).
Exit status: 0 if the job ended or there is another recorder; 1 after an error, which is on standard error; 2 for wrong arguments.
)";

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Arguments {
  std::string directory, save, copy, end;
  std::optional<uint64_t> detail, budget, ask, every;
  bool background = false;
};

/// The option at `i`, with its value. False: it is none, or has none.
bool read_option(Arguments &to, int &i, int count, char **words) {
  const std::string_view word = words[i];
  if (word == "--background") return to.background = true;
  if (i + 1 == count) return false;
  const char *value = words[++i];
  if (word == "--save") return to.save = value, true;
  if (word == "--copy") return to.copy = value, true;
  if (word == "--end") return to.end = value, true;
  auto *to_number = word == "--detail"   ? &to.detail
                    : word == "--budget" ? &to.budget
                    : word == "--ask"    ? &to.ask
                    : word == "--every"  ? &to.every
                                         : nullptr;
  return to_number && (*to_number = number(value));
}

std::optional<Arguments> arguments_of(int count, char **words) {
  Arguments found;
  for (int i = 1; i < count; ++i) {
    if (words[i][0] == '-') {
      if (!read_option(found, i, count, words)) return std::nullopt;
    } else if (!std::exchange(found.directory, words[i]).empty()) {
      return std::nullopt;
    }
  }
  return found.directory.empty() ? std::nullopt : std::optional(found);
}

/// A limit without an argument is that of the recorder that was here before.
recorder::Limits limits_of(const Arguments &arguments, session::DirectoryLock &lock) {
  recorder::Limits limits;
  unsigned long long detail = 0, budget = 0;
  if (std::sscanf(lock.text().c_str(), "%llu %llu\n", &detail, &budget) == 2) limits = {detail, budget};
  limits = {arguments.detail.value_or(limits.detail), arguments.budget.value_or(limits.budget)};
  lock.write(std::to_string(limits.detail) + " " + std::to_string(limits.budget) + "\n");
  return limits;
}

// Idle it polls rarely, so that a quiet job does not notice it.
constexpr int kBusyMs = 10, kIdleMs = 160;

volatile sig_atomic_t g_ends = 0;

void pause_ms(long ms) {
  const timespec time{0, ms * 1'000'000};
  ::nanosleep(&time, nullptr);
}

int fail(const std::string &why) { return std::fprintf(stderr, "%s\n", why.c_str()), 1; }

int save(const std::string &directory, const std::string &file) {
  const session::DirectoryLock last(directory, session::DirectoryLock::kCopier, session::DirectoryLock::Way::kTogether);
  const auto error = session::save(directory, file, "", {});
  return error ? fail(error->message) : 0;
}

/// So often a process of its own saves the trace, one at a time, and nothing waits for it.
class Copies {
 public:
  explicit Copies(const Arguments &arguments)
      : directory_(arguments.directory), file_(arguments.copy), every_(arguments.every.value_or(0)) {}
  void turn() {
    const auto now = std::chrono::steady_clock::now();
    if (file_.empty() || now < begun_ + every_ || (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == 0)) return;
    child_ = 0;
    begun_ = now;
    char program[] = "/proc/self/exe", option[] = "--copy";
    char *words[] = {program, directory_.data(), option, file_.data(), nullptr};
    if (::posix_spawn(&child_, program, nullptr, nullptr, words, environ) != 0) child_ = 0;
  }
  void finish() const {
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }

 private:
  std::string directory_, file_;
  std::chrono::seconds every_;
  pid_t child_ = 0;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// The copy of a trace that is still recorded. Who saves it for good deletes `DIR/copies` before: no copy comes after that one.
int copy(const std::string &directory, const std::string &file) {
  const session::DirectoryLock alone(directory, session::DirectoryLock::kCopier, session::DirectoryLock::Way::kAlone);
  if (Descriptor(open_file((directory + "/copies").c_str(), O_RDONLY, FileLinks::kRefused)) < 0) return 0;
  std::string about = trace::read_session_json(directory);
  if (about.starts_with('{')) about.insert(1, "\"copy\":true,");  // its processes continued
  const auto error = session::save(directory, file, about, {});
  return error ? fail(error->message) : 0;
}

/// The job is over; the launcher may have left a note on what becomes of the recording if it does not see the end.
int save_at_end(const Arguments &arguments) {
  const Descriptor fd(arguments.end.empty() ? -1 : open_own_file(arguments.end.c_str()));
  if (fd < 0) return 0;
  char file[4096];
  const ssize_t bytes = ::read(fd, file, sizeof file);
  if (bytes < 0) return fail("Cannot read " + arguments.end + ".");
  const int result = bytes == 0 ? 0 : save(arguments.directory, {file, static_cast<size_t>(bytes)});
  if (result != 0) return result;
  remove_folder(arguments.directory.c_str());
  remove_file(arguments.end.c_str());
  return 0;
}

int answer(const Arguments &arguments) {
  recorder::QueryServer server(arguments.directory, static_cast<uint32_t>(*arguments.ask));
  std::string input;
  for (bool open = true; open;) {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    // Between questions it reads on, before the recorder frees what it needs.
    if (::poll(&in, 1, server.turn() ? 0 : kIdleMs) <= 0) continue;
    char part[512];
    const ssize_t bytes = ::read(STDIN_FILENO, part, sizeof part);
    open = bytes > 0;
    if (open) input.append(part, static_cast<size_t>(bytes));
    for (size_t end; (end = input.find('\n')) != std::string::npos; input.erase(0, end + 1)) {
      const std::string reply = server.answer(input.substr(0, end)) + "\n";
      open = std::fwrite(reply.data(), 1, reply.size(), stdout) == reply.size() && std::fflush(stdout) == 0;
    }
  }
  return 0;
}

int record(const Arguments &arguments) {
  if (!own_folder(arguments.directory.c_str()))
    return fail(arguments.directory +
                " is not recorded: it must be a folder that belongs to this user and that no other user can write to.");
  session::DirectoryLock lock(arguments.directory, session::DirectoryLock::kRecorder,
                              session::DirectoryLock::Way::kWhenFree);
  if (!lock.opened()) return fail("Cannot open " + arguments.directory + "/recorder.");
  if (!lock.held()) return 0;
  auto recorder = recorder::Recorder::begin(arguments.directory, limits_of(arguments, lock));
  if (!recorder) return fail(recorder.error());
  Copies copies(arguments);
  for (int ms = kBusyMs; !g_ends && !recorder.value()->over();) {
    const uint64_t before = recorder.value()->events();
    const bool more = recorder.value()->turn();
    copies.turn();
    ms = recorder.value()->events() != before ? kBusyMs : std::min(ms * 2, kIdleMs);
    if (!more) pause_ms(ms);
  }
  if (g_ends) return 0;
  copies.finish();
  return save_at_end(arguments);
}

}  // namespace

int main(int count, char **words) {
  if (count == 2 && (std::string_view(words[1]) == "--help" || std::string_view(words[1]) == "-h"))
    return std::fputs(kHelp, stdout), 0;
  const auto arguments = arguments_of(count, words);
  if (!arguments) return std::fputs(kHelp, stderr), 2;
  if (!recorder::directory_is_there(arguments->directory))
    return fail("There is no directory " + arguments->directory + ".");
  if (!arguments->copy.empty() && !arguments->every) return copy(arguments->directory, arguments->copy);
  if (!arguments->save.empty()) return save(arguments->directory, arguments->save);
  if (arguments->background && (::fork() != 0 || ::setsid() < 0)) return 0;
  ::signal(SIGTERM, [](int) { g_ends = 1; });
  ::signal(SIGINT, SIG_IGN);  // Ctrl+C is for the job
  ::signal(SIGHUP, SIG_IGN);
  return arguments->ask ? answer(*arguments) : record(*arguments);
}
