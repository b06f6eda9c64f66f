// No question is missed, however fast they come: on a disk whose clock ticks rarely, as a tmpfs of most kernels.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "check.h"
#include "inject/agent/agent.h"

using gmt::inject::next_request;
using gmt::inject::Request;

namespace {

/// As extension/capture does: a draft gets the name that is read once it is whole.
void ask(const std::string &folder, int number) {
  const std::string draft = folder + "/draft", file = folder + "/request-" + std::to_string(number) + ".json";
  std::ofstream(draft) << "{\"pid\": " << getpid() << "}";
  if (link(draft.c_str(), file.c_str()) != 0 || unlink(draft.c_str()) != 0) std::abort();
}

}  // namespace

TEST(no_question_is_missed) {
  char folder[] = "/dev/shm/gmt-requests-XXXXXX";
  REQUIRE(mkdtemp(folder));
  setenv("GPU_MEMTRACE_DIR", folder, 1);
  constexpr int kQuestions = 4000;
  std::atomic<int> looks{0}, heard{0};
  std::atomic<bool> over{false};
  std::thread agent([&] {
    for (Request request; !over; ++looks) {
      next_request(request);
      if (request.text()) ++heard;
      request.release();
    }
  });
  int missed = 0;
  for (int number = 1; number <= kQuestions; ++number) {
    ask(folder, number);
    const int then = looks, before = heard;
    while (heard == before && heard < number && looks < then + 3) usleep(1);
    missed += heard < number - missed;
    unlink((std::string(folder) + "/request-" + std::to_string(number) + ".json").c_str());
  }
  over = true;
  agent.join();
  CHECK_EQ(missed, 0);
  CHECK_EQ(heard.load(), kQuestions);
  rmdir(folder);
}

TEST_MAIN
