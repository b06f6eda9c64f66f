// Copies of a trace that is still recorded, for a machine that dies.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "recorded.h"

using namespace gmt;
using namespace gmt::test;

namespace {

pid_t start(std::vector<std::string> words) {
  words.insert(words.begin(), std::getenv("GMT_RECORDER"));
  const pid_t child = ::fork();
  if (child != 0) return child;
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

/// Ends with the test: by the signal, and its exit status.
class Child {
 public:
  explicit Child(std::vector<std::string> words) : pid_(start(std::move(words))) {}
  ~Child() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ended();
  }
  int ended() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_;
};

uint64_t events_of(const std::string &trace) {
  auto session = session::open(trace, kEnd, kEnd);
  if (!session) return 0;
  while (session.value()->poll(16384)) {
  }
  return session.value()->reader->events();
}

void wait_for(const std::string &copy, uint64_t events, const Child &recorder) {
  while (events_of(copy) != events && recorder.runs()) ::usleep(20'000);
  CHECK_EQ(events_of(copy), events);
}

void allow(const TemporaryFolder &folder) { std::ofstream(folder / "copies"); }

}  // namespace

TEST(copies_come_while_the_job_runs_and_what_failed_is_tried_again) {
  const TemporaryFolder folder, target;
  const std::string copy = target / "not there yet/host 1.gputrace";
  LogWriter log(folder.path(), LogOptions::alive());
  write_pairs(log, 1'000);
  allow(folder);
  std::ofstream(folder / "session.json") << R"({"version":1})";
  const Child recorder({folder.path(), "--detail", "1048576", "--budget", "67108864", "--copy", copy, "--every", "1"});
  while (!std::filesystem::exists(folder / "recorder") && recorder.runs()) ::usleep(20'000);
  ::sleep(2);  // at least one copy had nowhere to go
  std::filesystem::create_directory(target / "not there yet");
  wait_for(copy, 2'000, recorder);
  const auto first = opened(copy);
  REQUIRE(first);
  CHECK_EQ(first->reader->session_json(), R"({"copy":true,"version":1})");
  write_pairs(log, 200'000);  // more than stays in full
  wait_for(copy, 402'000, recorder);
  CHECK(log.header().gone_sequence > 0);
  const auto count = [&] {
    const auto names = std::filesystem::directory_iterator(target / "not there yet");
    return std::distance(begin(names), end(names));
  };
  while (count() != 1 && recorder.runs()) ::usleep(20'000);  // the next copy may be in its making
  CHECK_EQ(count(), 1);
}

TEST(no_copy_comes_after_the_trace_that_was_saved_for_good) {
  const TemporaryFolder folder, target;
  LogWriter log(folder.path(), LogOptions::alive());
  write_pairs(log, 1'000);
  std::ofstream(folder / "recorder");
  const std::string trace = target / "a.gputrace";
  const auto locked = [&](session::DirectoryLock::Way way, std::vector<std::string> words) {
    auto lock = std::make_optional<session::DirectoryLock>(folder.path(), session::DirectoryLock::kCopier, way);
    Child program(std::move(words));
    ::usleep(100'000);
    CHECK(program.runs());
    CHECK(!std::filesystem::exists(trace));
    std::filesystem::remove(folder / "copies");
    lock.reset();
    CHECK_EQ(program.ended(), 0);
  };
  allow(folder);
  locked(session::DirectoryLock::Way::kTogether, {folder.path(), "--copy", trace});
  CHECK(!std::filesystem::exists(trace));
  locked(session::DirectoryLock::Way::kAlone, {folder.path(), "--save", trace});
  CHECK_EQ(events_of(trace), 2'000u);
}

TEST(what_a_folder_says_of_its_end_is_not_done) {
  const TemporaryFolder folder, target;
  LogWriter log(folder.path(), LogOptions{});
  write_pairs(log, 1'000);
  std::ofstream(folder / "at-end") << target / "a.gputrace";
  std::ofstream(folder / "copies") << "1 " << target / "a.gputrace";
  std::ofstream(folder / "session.json") << R"({"version":1,"processes":[{"pid":5000001,"exitCode":0}]})";
  CHECK_EQ(Child({folder.path()}).ended(), 0);
  CHECK(!std::filesystem::exists(target / "a.gputrace"));
  CHECK(std::filesystem::exists(folder / "session.json"));
}

TEST(who_starts_a_recorder_says_what_becomes_of_the_trace) {
  for (const bool own : {false, true}) {
    const TemporaryFolder folder, target;
    LogWriter log(folder.path(), LogOptions{});
    write_pairs(log, 1'000);
    std::ofstream(target / "end") << target / "a.gputrace";
    ::chmod((target / "end").c_str(), own ? 0600 : 0666);  // others may have written it
    CHECK_EQ(Child({folder.path(), "--end", target / "end"}).ended(), 0);
    CHECK_EQ(events_of(target / "a.gputrace"), own ? 2'000u : 0u);
    CHECK_EQ(std::filesystem::exists(folder.path()), !own);
  }
}

TEST(a_folder_that_others_may_write_to_is_not_recorded) {
  const TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 0777);
  CHECK_EQ(WEXITSTATUS(Child({folder.path()}).ended()), 1);
  CHECK(!std::filesystem::exists(folder / "recorder"));
}

TEST_MAIN
