// What the uprobe tracer costs the program and itself:
//   uprobe_cost TRACER [--library LIBCUDA] [--async] [--pairs N] [--rounds N] [--seconds N]
// Needs root. One pair is an allocation and its free. The program's cost is compared with empty BPF programs at entry and return
// of the same functions at the same places, in turns, by CPU time of the calling thread; the medians of the rounds are told.
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "uprobe/attach/elf_file.h"
#include "uprobe/attach/library_probes.h"
#include "uprobe/attach/links.h"
#include "uprobe/attach/probe_place.h"

using namespace gmt::uprobe;

namespace {

struct Options {
  std::string tracer, library = "libcuda.so.1";
  bool async = false, stacks = true;
  uint64_t pairs = 20000;
  int rounds = 7, seconds = 5;
};

[[noreturn]] void wrong(const std::string &what) {
  std::fprintf(stderr, "uprobe_cost: %s\n", what.c_str());
  std::exit(1);
}

uint64_t clock_ns(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

class Driver {
 public:
  explicit Driver(const Options &options) : async_(options.async) {
    void *library = dlopen(options.library.c_str(), RTLD_NOW);
    if (!library) wrong(dlerror());
    const auto find = [&](const char *name) {
      void *at = dlsym(library, name);
      if (!at) wrong(std::string("no ") + name);
      return at;
    };
    names_ = {async_ ? "cuMemAllocAsync" : "cuMemAlloc_v2", async_ ? "cuMemFreeAsync" : "cuMemFree_v2"};
    void *context = nullptr;
    if (reinterpret_cast<int (*)(unsigned)>(find("cuInit"))(0) != 0) wrong("cuInit failed");
    reinterpret_cast<int (*)(void **, int)>(find("cuDevicePrimaryCtxRetain"))(&context, 0);
    reinterpret_cast<int (*)(void *)>(find("cuCtxSetCurrent"))(context);
    allocate_ = reinterpret_cast<int (*)(uint64_t *, size_t, void *)>(find(names_[0].c_str()));
    release_ = reinterpret_cast<int (*)(uint64_t, void *)>(find(names_[1].c_str()));
    Dl_info file{};
    dladdr(reinterpret_cast<void *>(allocate_), &file);
    path_ = std::filesystem::canonical(file.dli_fname).string();
  }

  void pair() const {
    uint64_t address = 0;
    if (allocate_(&address, 4096, nullptr) != 0 || release_(address, nullptr) != 0) wrong("a call failed");
  }
  /// CPU time of one pair in ns.
  double cost(uint64_t pairs) const {
    for (uint64_t i = 0; i < pairs / 20; i++) pair();
    const uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < pairs; i++) pair();
    return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / static_cast<double>(pairs);
  }
  const std::string &path() const { return path_; }
  const std::vector<std::string> &names() const { return names_; }

 private:
  bool async_;
  std::string path_;
  std::vector<std::string> names_;
  int (*allocate_)(uint64_t *, size_t, void *);
  int (*release_)(uint64_t, void *);
};

/// All the places that the tracer probes in this library, and where it probes the two functions of the pair.
std::vector<ProbePoint> places(const Driver &driver) {
  const auto file = FileBytes::open(driver.path());
  const auto elf = file ? ElfFile::read(*file) : std::nullopt;
  if (!elf) wrong("cannot read " + driver.path());
  for (const std::string &name : driver.names()) {
    const ElfSymbol *symbol = elf->find(name);
    const uint32_t shift = probe_place(elf->bytes_at(*file, symbol->address, 64), true);
    const auto code = elf->bytes_at(*file, symbol->address + shift, 1);
    std::printf("%s: probe at +%u, on %02x\n", name.c_str(), shift, std::to_integer<unsigned>(code[0]));
  }
  const LibraryProbes probes = find_probes(LibraryRole::kDriver, *file, *elf);
  std::vector<ProbePoint> points = probes.calls;
  points.insert(points.end(), probes.contexts.begin(), probes.contexts.end());
  return points;
}

/// Programs that do nothing, at entry and return.
class EmptyProbes {
 public:
  explicit EmptyProbes(const Driver &driver, const std::vector<ProbePoint> &points) {
    const bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    bpf_prog_load_opts options{};
    options.sz = sizeof options;
    options.expected_attach_type = static_cast<bpf_attach_type>(kUprobeMultiAttachType);
    program_ = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, 2, &options);
    if (program_ < 0) wrong("an empty BPF program cannot be loaded (Linux 6.6 and root are needed)");
    for (bool at_return : {false, true}) {
      links_.push_back(create_multi_link(program_, driver.path().c_str(), points, at_return, getpid()));
      if (links_.back() < 0) wrong("the empty program cannot be attached");
    }
  }
  ~EmptyProbes() {
    for (int link : links_) close(link);
    close(program_);
  }

 private:
  int program_;
  std::vector<int> links_;
};

class TracerProcess {
 public:
  TracerProcess(const Options &options, const std::string &folder) {
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) wrong("no pipe");
    const std::string own = std::to_string(getpid());
    pid_ = fork();
    if (pid_ == 0) {
      dup2(input[0], 0);
      dup2(output[1], 1);
      execl(options.tracer.c_str(), options.tracer.c_str(), "attach", "--pid", own.c_str(), "--directory",
            folder.c_str(), nullptr);
      _exit(127);
    }
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    output_ = output[0];
    char line[4096];
    const ssize_t n = read(output_, line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    if (!std::strstr(line, "\"ready\"")) wrong(std::string("the tracer did not attach: ") + line);
  }
  /// Its last words; it has taken its probes away.
  std::string end() {
    close(input_);
    std::string output;
    char text[4096];
    for (ssize_t n; (n = read(output_, text, sizeof text)) > 0;) output.append(text, static_cast<size_t>(n));
    close(output_);
    waitpid(pid_, nullptr, 0);
    return output;
  }
  /// CPU time so far, ns.
  uint64_t cpu() const {
    std::FILE *file = std::fopen(("/proc/" + std::to_string(pid_) + "/schedstat").c_str(), "r");
    unsigned long long ns = 0;
    if (!file || std::fscanf(file, "%llu", &ns) != 1) wrong("no schedstat");
    std::fclose(file);
    return ns;
  }

 private:
  pid_t pid_;
  int input_, output_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const Options &options, const Driver &driver, const std::string &folder) {
  const auto points = places(driver);
  std::vector<double> alone, empty, traced;
  for (int round = 0; round < options.rounds; round++) {
    alone.push_back(driver.cost(options.pairs));
    {
      EmptyProbes probes(driver, points);
      empty.push_back(driver.cost(options.pairs));
    }
    TracerProcess tracer(options, folder);
    traced.push_back(driver.cost(options.pairs));
    tracer.end();
  }
  std::printf("\n| pair of %s + %s | ns | to empty probes |\n|---|---|---|\n", driver.names()[0].c_str(),
              driver.names()[1].c_str());
  std::printf("| untraced | %.0f | |\n| empty probes, entry and return | %.0f | 1 |\n| the tracer | %.0f | %.2f |\n",
              median(alone), median(empty), median(traced), median(traced) / median(empty));
}

void rates(const Options &options, const Driver &driver, const std::string &folder) {
  std::printf("\n| events/s | tracer's CPU, µs an event | lost |\n|---|---|---|\n");
  for (uint64_t rate : {1000u, 20000u, 100000u}) {
    TracerProcess tracer(options, folder);
    const uint64_t step = 1'000'000'000u * 2 / rate, begin = clock_ns(CLOCK_MONOTONIC), cpu = tracer.cpu();
    const uint64_t pairs = rate / 2 * static_cast<uint64_t>(options.seconds);
    for (uint64_t i = 0; i < pairs; i++) {
      driver.pair();
      const uint64_t due = begin + step * (i + 1), now = clock_ns(CLOCK_MONOTONIC);
      const timespec pause{static_cast<time_t>((due - now) / 1'000'000'000u),
                           static_cast<long>((due - now) % 1'000'000'000u)};
      if (due > now + 100'000) nanosleep(&pause, nullptr);
    }
    const double seconds = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
    usleep(200000);  // what is queued is written within a tick
    const double used = static_cast<double>(tracer.cpu() - cpu) / 1000;
    const std::string output = tracer.end();
    const size_t lost = output.rfind("\"lost\":");
    std::printf(
        "| %.0f | %.3f | %s |\n", static_cast<double>(2 * pairs) / seconds, used / static_cast<double>(2 * pairs),
        lost == std::string::npos ? "?"
                                  : output.substr(lost + 7, output.find_first_of("},", lost + 7) - lost - 7).c_str());
    std::fflush(stdout);
  }
}

Options parse(int count, char **words) {
  Options options;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    const auto value = [&] { return ++i < count ? words[i] : (wrong(word + " takes a value"), nullptr); };
    if (word == "--async")
      options.async = true;
    else if (word == "--no-stacks")
      options.stacks = false;
    else if (word == "--library")
      options.library = value();
    else if (word == "--pairs")
      options.pairs = std::strtoull(value(), nullptr, 10);
    else if (word == "--rounds")
      options.rounds = std::atoi(value());
    else if (word == "--seconds")
      options.seconds = std::atoi(value());
    else
      options.tracer = word;
  }
  if (options.tracer.empty()) wrong("which gpu-memtrace-uprobe?");
  return options;
}

}  // namespace

int main(int count, char **words) {
  const Options options = parse(count, words);
  if (geteuid() != 0) wrong("it needs root");
  char folder[] = "/dev/shm/uprobe-cost-XXXXXX";
  if (!mkdtemp(folder)) wrong("no folder for the logs");
  const Driver driver(options);
  compare(options, driver, folder);
  rates(options, driver, folder);
  std::filesystem::remove_all(folder);
}
