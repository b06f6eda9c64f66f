#include "addon/program.h"

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

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "addon/promise_worker.h"
#include "addon/reader_object.h"
#include "wire/process_start.h"

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

/// A child of this process that does nothing but leave what is sent to all of this process group pending for a moment: the program gets that by
/// itself, and a signal's sender does not tell whom else it was sent to. Called with all signals blocked.
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

/// Whether a signal that came here was sent to the whole group. Safe in a signal handler.
bool came_to_group(int signal) {
  constexpr char kPending[] = "ShdPnd:\t";
  char name[32], text[1 << 13];
  const pid_t child = g_witness;
  if (child == 0) return false;
  ::snprintf(name, sizeof name, "/proc/%d/status", static_cast<int>(child));
  const ssize_t bytes = gmt_read_start(name, text, sizeof text - 1);
  text[bytes < 0 ? 0 : bytes] = 0;
  const char *line = ::strstr(text, kPending);
  return line && (::strtoull(line + sizeof kPending - 1, nullptr, 16) >> (signal - 1) & 1);
}

/// What is heard, and passed on where it came to this process alone.
constexpr int kForwarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM};
/// How long what is left to do may take once a signal has come: the one that ended the program may have come here as well.
constexpr unsigned kGraceSeconds = 1;

std::atomic<pid_t> g_program{0};  ///< while it runs
std::atomic<const std::string *> g_last_word{nullptr};
std::atomic<int> g_ending{0};  ///< the signal after which this process ends soon

[[noreturn]] void end(int signal) {
  const std::string *text = g_last_word;
  pollfd out{STDERR_FILENO, POLLOUT, 0};  // without a reader there is nothing to wait for
  if (text && ::poll(&out, 1, 0) == 1 && ::write(STDERR_FILENO, text->data(), text->size()) < 0) ::_exit(128 + signal);
  ::_exit(128 + signal);
}

/// The program while it runs, else 0: an end counts before the thread that waits for it has noticed.
pid_t running_program() {
  const pid_t program = g_program;
  siginfo_t end{};
  if (program && ::waitid(P_PID, static_cast<id_t>(program), &end, WEXITED | WNOWAIT | WNOHANG) == 0 && end.si_pid != 0)
    return 0;
  return program;
}

void forward_signal(int signal) {
  const int saved = errno;
  if (const pid_t program = running_program()) {
    if (!came_to_group(signal)) ::kill(program, signal);
  } else if (signal == SIGALRM) {
    end(g_ending);
  } else if (signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGQUIT) {
    if (g_ending.exchange(signal) != 0) end(signal);
    ::alarm(kGraceSeconds);
  }
  errno = saved;
}

void forward_signals(std::string last_word) {
  // The old text is not freed: a signal may be writing it.
  g_last_word = new std::string(std::move(last_word));
  struct sigaction action {};
  action.sa_handler = forward_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kForwarded) ::sigaction(signal, &action, nullptr);
}

std::vector<std::string> texts(const Napi::Value &value) {
  std::vector<std::string> out;
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); i++) out.push_back(Napi::Value(array[i]).ToString().Utf8Value());
  return out;
}

/// The descriptors that become the program's stdin, stdout and stderr.
using Streams = std::array<int, 3>;

Streams streams_of(const Napi::Value &value) {
  const auto array = value.As<Napi::Array>();
  Streams out;
  for (uint32_t i = 0; i < out.size(); i++) out[i] = Napi::Value(array[i]).ToNumber().Int32Value();
  return out;
}

std::vector<char *> pointers(std::vector<std::string> &texts) {
  std::vector<char *> out;
  for (std::string &text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// In the child: nothing of how this process treats signals is handed on. Says through `failed` why it could not begin.
[[noreturn]] void become(char **words, char **variables, const Streams &streams, int failed) {
  constexpr int kNamed = 31;
  for (int signal = 1; signal <= kNamed; signal++) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    const int from = streams[static_cast<size_t>(stream)];
    if (from == stream)
      ::fcntl(stream, F_SETFD, 0);  // Node keeps them
    else
      ::dup2(from, stream);
  }
  environ = variables;
  ::execvp(words[0], words);
  const int error = errno;
  if (::write(failed, &error, sizeof error) < 0) ::_exit(1);
  ::_exit(127);
}

/// Starts the program and hands it the signals from then on. 0, or errno of why it does not start.
int begin(std::vector<std::string> command, std::vector<std::string> environment, const Streams &streams,
          pid_t *program) {
  const std::vector<char *> words = pointers(command), variables = pointers(environment);
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) return errno;
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);  // a signal that comes now is for the program, once that is there
  *program = ::fork();
  if (*program == 0)
    become(const_cast<char **>(words.data()), const_cast<char **>(variables.data()), streams, failed[1]);
  int error = *program < 0 ? errno : 0;
  ::close(failed[1]);
  if (*program > 0 && ::read(failed[0], &error, sizeof error) > 0) ::waitpid(*program, nullptr, 0);
  ::close(failed[0]);
  if (error == 0) {
    start_group_witness();
    g_program = *program;
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return error;
}

/// Waits for the end, and leaves the process's number taken: it may still be named by a signal.
int status_of_end(pid_t program) {
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(program), &end, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  g_program = 0;
  end_group_witness();
  return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}

}  // namespace

Napi::Value start_program(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 4 || !info[0].IsArray() || !info[1].IsArray() || !info[2].IsString() || !info[3].IsArray())
    return refuse(env, "startProgram() needs words, variables, a last word and streams.");
  forward_signals(info[2].As<Napi::String>().Utf8Value());
  pid_t program = 0;
  const int error = begin(texts(info[0]), texts(info[1]), streams_of(info[3]), &program);
  auto result = Napi::Object::New(env);
  result.Set("error", error);
  if (error != 0) return result;
  const auto status = std::make_shared<int>(0);
  result.Set("pid", program);
  result.Set("ended", PromiseWorker::start(
                          env,
                          [program, status]() -> trace::Status {
                            *status = status_of_end(program);
                            return std::nullopt;
                          },
                          [program, status](Napi::Env then) -> napi_value {
                            ::waitpid(program, nullptr, 0);
                            return Napi::Number::New(then, *status);
                          }));
  return result;
}

void end_on_signals(const Napi::CallbackInfo &info) {
  forward_signals(info.Length() > 0 ? info[0].ToString().Utf8Value() : "");
}

}  // namespace gmt::addon
