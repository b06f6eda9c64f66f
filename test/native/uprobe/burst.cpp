// Allocates and frees as fast as it can: `uprobe_burst PROCESSES THREADS PAIRS [ROUNDS]`, PAIRS in all threads of a process
// together. With ROUNDS it first prints "ready", and waits for a line before each round. Every process prints its number and its
// pairs at the end of a round.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

struct Driver {
  int (*init)(unsigned);
  int (*retain)(void **, int);
  int (*set_current)(void *);
  int (*allocate)(uint64_t *, size_t);
  int (*release)(uint64_t);
};

[[noreturn]] void wrong(const char *what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

template <class Function>
void find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) wrong(name);
}

Driver load() {
  Driver driver{};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) wrong("libcuda.so.1 was not found");
  find(library, "cuInit", driver.init);
  find(library, "cuDevicePrimaryCtxRetain", driver.retain);
  find(library, "cuCtxSetCurrent", driver.set_current);
  find(library, "cuMemAlloc_v2", driver.allocate);
  find(library, "cuMemFree_v2", driver.release);
  return driver;
}

void burst(const Driver &driver, void *context, uint64_t pairs, uint64_t bytes) {
  if (driver.set_current(context) != 0) wrong("no context");
  for (uint64_t i = 0; i < pairs; i++) {
    uint64_t address = 0;
    if (driver.allocate(&address, bytes) != 0) wrong("no memory");
    if (driver.release(address) != 0) wrong("not freed");
  }
}

void run(const Driver &driver, unsigned threads, uint64_t pairs) {
  void *context = nullptr;
  if (driver.init(0) != 0 || driver.retain(&context, 0) != 0) wrong("no driver");
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; i++)
    workers.emplace_back(burst, driver, context, pairs / threads, uint64_t{4096} * (i + 1));
  for (std::thread &worker : workers) worker.join();
  std::printf("%d %llu\n", getpid(), static_cast<unsigned long long>(pairs / threads * threads));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char **words) {
  if (count < 4) wrong("usage: uprobe_burst PROCESSES THREADS PAIRS [ROUNDS]");
  const int processes = std::atoi(words[1]);
  const auto threads = static_cast<unsigned>(std::atoi(words[2]));
  const uint64_t pairs = std::strtoull(words[3], nullptr, 10);
  const int rounds = count > 4 ? std::atoi(words[4]) : 1;
  const Driver driver = load();
  if (count > 4) {
    std::printf("ready\n");
    std::fflush(stdout);
  }
  for (int round = 0; round < rounds; round++) {
    char line[16];
    if (count > 4 && !std::fgets(line, sizeof line, stdin)) wrong("nobody said go");
    // Before the driver is used: its state does not survive a fork.
    for (int i = 1; i < processes && round == 0; i++)
      if (fork() == 0) {
        run(driver, threads, pairs);
        return 0;
      }
    run(driver, threads, pairs);
  }
  int bad = 0;
  for (int status = 0; wait(&status) > 0;) bad += status != 0;
  return bad != 0;
}
