#pragma once
// What the program waits for: the ring buffer, the recording switch, signals, the end of standard input.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "wire/files.h"

namespace gmt::uprobe {

class Waiter {
 public:
  Waiter() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (int error : {SIGPIPE, SIGXFSZ}) ::signal(error, SIG_IGN);
    sigset_t ends;
    sigemptyset(&ends);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    signals_ = Descriptor(::signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC));
    add(signals_);
    if (input_can_end()) add(STDIN_FILENO);
  }

  /// Wakes when this descriptor is readable. Its owner reads from it.
  void add(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    if (descriptor >= 0) ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }
  /// Until something happens, or `milliseconds` have passed.
  void wait(int milliseconds) {
    epoll_event events[8];
    const int count = ::epoll_wait(epoll_, events, 8, milliseconds);
    for (int i = 0; i < count; i++) {
      if (events[i].data.fd == signals_) read_signals();
      if (events[i].data.fd == STDIN_FILENO) read_input();
    }
  }
  /// SIGINT, SIGTERM or SIGHUP came, or standard input ended.
  bool asked_to_end() const { return ending_; }

 private:
  /// Only where a process can hold the other end: /dev/null and files are at their end from the start.
  static bool input_can_end() {
    struct stat facts {};
    return ::fstat(STDIN_FILENO, &facts) == 0 &&
           (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode) || ::isatty(STDIN_FILENO));
  }

  void read_signals() {
    signalfd_siginfo about;
    while (::read(signals_, &about, sizeof about) == sizeof about) ending_ = true;
  }
  /// What is typed means nothing; its end does.
  void read_input() {
    char text[512];
    const ssize_t n = ::read(STDIN_FILENO, text, sizeof text);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) ending_ = true;
  }

  Descriptor epoll_, signals_;
  bool ending_ = false;
};

}  // namespace gmt::uprobe
