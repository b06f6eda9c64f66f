#include "addon/group_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace gmt::addon {
namespace {

/// How long a signal stays to be seen: what came here at the same time has been looked at by then.
constexpr useconds_t kShownMicroseconds = 300'000;

std::atomic<pid_t> g_witness{0};

[[noreturn]] void witness(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "signal-witness");
  if (::getppid() != parent) ::_exit(0);
  // Nobody waits for the end of a pipe that only this process has open.
  for (int file = 0, most = static_cast<int>(::sysconf(_SC_OPEN_MAX)); file < most && file < 1 << 12; file++)
    ::close(file);
  sigset_t all;
  sigfillset(&all);
  const int signals = ::signalfd(-1, &all, 0);
  if (signals < 0) ::_exit(1);
  pollfd pending{signals, POLLIN, 0};
  for (signalfd_siginfo seen[16];;) {
    if (::poll(&pending, 1, -1) != 1) continue;
    ::usleep(kShownMicroseconds);
    if (::read(signals, seen, sizeof seen) < 0) ::_exit(1);
  }
}

}  // namespace

void start_group_witness() {
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) witness(parent);
  g_witness = child < 0 ? 0 : child;
}

void end_group_witness() {
  const pid_t child = g_witness.exchange(0);
  if (child == 0) return;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

bool came_to_group(int signal) {
  constexpr char kPending[] = "ShdPnd:\t";
  char name[32], text[1 << 13];
  const pid_t child = g_witness;
  if (child == 0) return false;
  ::snprintf(name, sizeof name, "/proc/%d/status", static_cast<int>(child));
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = file < 0 ? 0 : ::read(file, text, sizeof text - 1);
  if (file >= 0) ::close(file);
  text[bytes < 0 ? 0 : bytes] = 0;
  const char *line = ::strstr(text, kPending);
  return line && (::strtoull(line + sizeof kPending - 1, nullptr, 16) >> (signal - 1) & 1);
}

}  // namespace gmt::addon
