// A traced program without Python: `inject_program MODE ...`. Its allocations are reports to libc10, as PyTorch's allocator
// makes them, so it needs no GPU; a few modes call the (simulated) driver. Exit status 0: the program saw nothing wrong.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "wire/layout.h"

namespace c10 {
struct Device {
  int8_t type, index;
};
void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device);
}  // namespace c10

// The library gets its disk space through this one: `g_slow` makes that last until it is false again.
std::atomic<bool> g_slow{false}, g_waits{false};
extern "C" __attribute__((visibility("default"))) int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  for (g_waits = g_slow.load(); g_slow;) usleep(1000);
  return static_cast<int>(syscall(SYS_fallocate, fd, mode, offset, bytes));
}

namespace {

void allocate(uint64_t address, int64_t bytes = 512) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(address), bytes, 0, 0, {1, 0});
}

[[noreturn]] void wrong(const char *what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

void many(uint64_t count, uint64_t tag = 0) {
  for (uint64_t i = 1; i <= count; i++) allocate(tag << 32 | i);
}

void run_threads(unsigned threads, uint64_t events) {
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; i++) running.emplace_back(many, events, i + 1);
  for (auto &thread : running) thread.join();
}

int storm(char **argv) {
  run_threads(static_cast<unsigned>(atoi(argv[0])), strtoull(argv[1], nullptr, 10));
  return 0;
}

int short_threads(char **argv) {
  for (int left = atoi(argv[0]); left > 0; left -= 8) run_threads(8, 10);
  return 0;
}

/// While threads allocate, others begin and end, and recording is switched off and on.
int switched(char **argv) {
  const std::string path = std::string(getenv("GPU_MEMTRACE_DIR")) + "/control";
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  void *at = mmap(nullptr, sizeof(gmt_control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) wrong("no control file");
  auto *control = static_cast<gmt_control *>(at);
  std::atomic<bool> done{false};
  std::thread switches([&] {
    for (uint32_t on = 0; !done; on = 1 - on, usleep(200)) {
      __atomic_store_n(&control->recording, on, __ATOMIC_RELAXED);
      __atomic_fetch_add(&control->generation, 1, __ATOMIC_RELEASE);
    }
  });
  std::thread short_ones([&] {
    while (!done) run_threads(2, 10);
  });
  run_threads(static_cast<unsigned>(atoi(argv[0])), strtoull(argv[1], nullptr, 10));
  done = true;
  switches.join();
  short_ones.join();
  return 0;
}

/// Threads that call the driver, each with the context of the first device.
int drive(char **argv) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) wrong("no libcuda.so.1");
  const auto find = [&](const char *name) { return dlsym(driver, name); };
  void *context = nullptr;
  if (reinterpret_cast<int (*)(unsigned)>(find("cuInit"))(0) != 0) wrong("cuInit failed");
  reinterpret_cast<int (*)(void **, int)>(find("cuDevicePrimaryCtxRetain"))(&context, 0);
  std::vector<std::thread> running;
  for (int i = atoi(argv[0]); i > 0; i--) {
    running.emplace_back([&, count = atoi(argv[1])] {
      reinterpret_cast<int (*)(void *)>(find("cuCtxSetCurrent"))(context);
      for (int left = count; left > 0; left--) {
        uint64_t address = 0;
        if (reinterpret_cast<int (*)(uint64_t *, size_t)>(find("cuMemAlloc_v2"))(&address, 4096) != 0)
          wrong("no memory");
        allocate(address);
        if (reinterpret_cast<int (*)(uint64_t)>(find("cuMemFree_v2"))(address) != 0) wrong("not freed");
      }
    });
  }
  for (auto &thread : running) thread.join();
  return 0;
}

int phases(char **argv) {
  const uint64_t events = strtoull(argv[0], nullptr, 10);
  char line[16];
  for (uint64_t tag = 1; std::fgets(line, sizeof line, stdin); tag++) {
    many(events, tag);
    std::puts("done");
    std::fflush(stdout);
  }
  return 0;
}

/// Until it is killed; "busy" once all threads have written.
int forever(char **) {
  std::vector<std::thread> running;
  std::atomic<int> warm{0};
  for (unsigned i = 0; i < 4; i++) {
    running.emplace_back([&, i] {
      many(1000, i + 1);
      warm++;
      for (;;) many(1000, i + 1);
    });
  }
  while (warm < 4) usleep(1000);
  std::puts("busy");
  std::fflush(stdout);
  for (auto &thread : running) thread.join();
  return 0;
}

void wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) wrong("no child");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) wrong("the child failed");
}

/// Threads allocate while another one forks; the child allocates 100 under tag 9 and ends with its own exit.
int fork_amid(char **) {
  std::thread others[] = {std::thread(many, 20000, 1), std::thread(many, 20000, 2)};
  std::thread([] {
    many(100, 3);
    const pid_t child = fork();
    if (child == 0) {
      many(100, 9);
      std::exit(0);
    }
    wait_for(child);
    many(100, 4);
  }).join();
  for (auto &thread : others) thread.join();
  return 0;
}

void *child_that_ends(void *);

/// In a child that a thread forked: a new thread opens the child's log, the forked thread ends without an event, and a third
/// thread starts. The ended thread's chunk is the parent's: the third one must not go on in it.
int fork_leftover(char **) {
  pthread_t thread;
  pthread_create(&thread, nullptr, child_that_ends, nullptr);
  pthread_join(thread, nullptr);
  return 0;
}

void *child_that_ends(void *) {
  many(10, 1);
  const pid_t child = fork();
  if (child) {
    wait_for(child);
    many(10, 2);
    return nullptr;
  }
  std::thread([] {
    many(10, 9);
    std::thread([] {
      usleep(100000);  // the forked thread is gone by then
      many(10, 8);
      std::exit(0);
    }).detach();
    usleep(20000);
  }).detach();
  usleep(10000);
  return nullptr;
}

#include "program_threads.h"

/// A child that allocates nothing and ends in order.
int fork_idle(char **) {
  many(10, 1);
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  wait_for(child);
  return 0;
}

int spawn(char **) {
  many(10, 1);
  const pid_t child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", "inject_program", "storm", "1", "7", nullptr);
    _exit(127);
  }
  wait_for(child);
  many(10, 2);
  execl("/proc/self/exe", "inject_program", "storm", "1", "5", nullptr);
  return 1;
}

/// Closes every descriptor that it did not open, puts files of its own there, and looks whether they stay as they are.
int close_descriptors(char **) {
  many(1000);
  for (int fd = 3; fd < 1024; fd++) close(fd);
  int own[20];
  for (int i = 0; i < 20; i++) {
    const std::string name = "own" + std::to_string(i);
    own[i] = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (own[i] < 0 || write(own[i], name.data(), name.size()) < 0) wrong("cannot write files");
  }
  run_threads(4, 50000);
  for (int i = 0; i < 20; i++) {
    char text[64] = {};
    const std::string name = "own" + std::to_string(i);
    if (pread(own[i], text, sizeof text, 0) != static_cast<ssize_t>(name.size()) || name != text)
      wrong("a file of the program was changed");
  }
  return 0;
}

int keep_errno(char **) {
  for (int i = 0; i < 20000; i++) {
    errno = 1234;
    allocate(static_cast<uint64_t>(i) + 1);
    if (errno != 1234) wrong("an allocation changed errno");
  }
  std::thread([] {
    errno = 77;
    allocate(5);
    if (errno != 77) wrong("a thread's first allocation changed errno");
  }).join();
  return 0;
}

volatile uint64_t in_handler;
void on_alarm(int) {
  const int saved = errno;
  allocate(2);
  in_handler = in_handler + 1;
  errno = saved;
}

/// Prints how many allocations it made.
int alarms(char **argv) {
  struct sigaction action {};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  allocate(1);
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &every, nullptr);
  const uint64_t count = strtoull(argv[0], nullptr, 10);
  many(count);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%llu %llu\n", static_cast<unsigned long long>(count + 1), static_cast<unsigned long long>(in_handler));
  return 0;
}

int allocate_and_exit(char **argv) {
  many(3);
  if (strcmp(argv[0], "_exit") == 0) _exit(7);
  if (strcmp(argv[0], "abort") == 0) abort();
  std::exit(7);
}

using Allocate = int (*)(uint64_t *, size_t);
using Free = int (*)(uint64_t);

/// One allocation of `bytes` and its free; prints the address.
void use(void *allocate_function, void *free_function, size_t bytes) {
  uint64_t address = 0;
  if (!allocate_function || !free_function) wrong("a function was not found");
  errno = 1234;
  if (reinterpret_cast<Allocate>(allocate_function)(&address, bytes) != 0) wrong("no memory");
  if (reinterpret_cast<Free>(free_function)(address) != 0) wrong("not freed");
  if (errno != 1234) wrong("a driver call changed errno");
  std::printf("%llx\n", static_cast<unsigned long long>(address));
}

/// The same two functions by every way that a program has to get at them.
int look_ups(char **) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) wrong("no libcuda.so.1");
  const auto find = [&](const char *name) { return dlsym(driver, name); };
  using One = int (*)(const char *, void **, int, uint64_t);
  using Two = int (*)(const char *, void **, int, uint64_t, int *);
  void *context = nullptr, *got[2] = {}, *two_by_two = nullptr;
  if (reinterpret_cast<int (*)(unsigned)>(find("cuInit"))(0) != 0) wrong("cuInit failed");
  reinterpret_cast<int (*)(void **, int)>(find("cuDevicePrimaryCtxRetain"))(&context, 0);
  reinterpret_cast<int (*)(void *)>(find("cuCtxSetCurrent"))(context);
  use(find("cuMemAlloc_v2"), find("cuMemFree_v2"), 1 << 20);
  const auto one = reinterpret_cast<One>(find("cuGetProcAddress"));
  const auto two = reinterpret_cast<Two>(find("cuGetProcAddress_v2"));
  if (one("cuMemAlloc", &got[0], 12000, 0) != 0 || one("cuMemFree", &got[1], 12000, 0) != 0) wrong("cuGetProcAddress");
  use(got[0], got[1], 2 << 20);
  int status = -1;
  if (two("cuMemAlloc", &got[0], 12000, 0, &status) != 0 || status != 0) wrong("cuGetProcAddress_v2");
  if (two("cuMemFree", &got[1], 12000, 0, nullptr) != 0) wrong("cuGetProcAddress_v2 without a status");
  use(got[0], got[1], 3 << 20);
  if (two("cuGetProcAddress", &two_by_two, 12000, 0, &status) != 0) wrong("cuGetProcAddress by itself");
  if (reinterpret_cast<Two>(two_by_two)("cuMemAlloc", &got[0], 12000, 0, &status) != 0) wrong("look-up by a look-up");
  use(got[0], got[1], 4 << 20);
  if (one("cuNoSuchThing", &got[0], 12000, 0) == 0 || find("cuNoSuchThing")) wrong("a function that is not there");
  return 0;
}

/// A running program loads the tracer, as the Python package does.
int load(char **argv) {
  if (dlopen(argv[0], RTLD_NOW)) return 0;
  std::fprintf(stderr, "%s\n", dlerror());
  return 1;
}

struct Mode {
  const char *name;
  int (*run)(char **);
  int arguments;
};
constexpr Mode kModes[] = {
    {"storm", storm, 2},
    {"short", short_threads, 1},
    {"phases", phases, 1},
    {"switched", switched, 2},
    {"drive", drive, 2},
    {"forever", forever, 0},
    {"fork", fork_amid, 0},
    {"slow_opening", slow_opening, 0},
    {"fork_opening", fork_opening, 0},
    {"in_turn", in_turn, 2},
    {"guests", guests, 2},
    {"fork_leftover", fork_leftover, 0},
    {"fork_idle", fork_idle, 0},
    {"spawn", spawn, 0},
    {"descriptors", close_descriptors, 0},
    {"errno", keep_errno, 0},
    {"alarms", alarms, 1},
    {"exit", allocate_and_exit, 1},
    {"look_ups", look_ups, 0},
    {"load", load, 1},
};

}  // namespace

int main(int argc, char **argv) {
  for (const Mode &mode : kModes)
    if (argc > 1 && strcmp(argv[1], mode.name) == 0 && argc == 2 + mode.arguments) return mode.run(argv + 2);
  std::fprintf(stderr, "usage: inject_program MODE [ARGUMENT]\n");
  return 2;
}
