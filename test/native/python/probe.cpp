// What a tracer does with the walk, for Python tests to call through ctypes: `probe_capture` keeps every new stack
// under its hash and every new code object under (address, deaths), and knows them again from then on. So a
// hash or deaths that does not tell two apart shows as a wrong stack.
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "python/frames.h"

#define PROBE extern "C" __attribute__((visibility("default")))

using namespace gmt::python;

namespace {

struct Stack {
  std::vector<gmt_frame> frames;
  bool cut;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<uint64_t, uint32_t> stack_ids;
  std::vector<Stack> stacks;
  std::map<std::pair<const void *, uint64_t>, uint32_t> code_ids;
  std::vector<std::vector<char>> codes;
};
/// Never destroyed: daemon threads use it while the process exits.
Registry &registry = *new Registry;
std::atomic<uint64_t> mismatches;

uint32_t code_id(const Frame &frame) {
  auto [at, added] = registry.code_ids.try_emplace({frame.code, frame.deaths}, registry.codes.size() + 1);
  if (added) {
    std::vector<char> payload(32768);
    payload.resize(describe_code(frame, at->second, payload.data(), payload.size()));
    registry.codes.push_back(std::move(payload));
  }
  return at->second;
}

}  // namespace

PROBE uint32_t probe_discover() { return static_cast<uint32_t>(discover()); }
PROBE uint32_t probe_version() { return version_hex(); }
PROBE const char *probe_reason() { return unsupported_reason(); }
PROBE uint64_t probe_hash() { return walk_hash(); }

/// Id of the calling thread's stack, 0 without one.
PROBE uint32_t probe_capture() {
  uint64_t hash = walk_hash();
  if (hash == 0) return 0;
  std::lock_guard lock(registry.mutex);
  auto [at, added] = registry.stack_ids.try_emplace(hash, registry.stacks.size() + 1);
  if (!added) return at->second;
  Walk now;
  if (!walk(now) || now.hash != hash) mismatches++;
  Stack stack = {{}, now.cut};
  for (uint32_t i = 0; i < now.depth; i++) stack.frames.push_back({code_id(now.frames[i]), now.frames[i].offset});
  registry.stacks.push_back(std::move(stack));
  return at->second;
}

/// Copies the frames of a stack; returns their count, or'ed with 0x8000 where the stack was cut.
PROBE uint32_t probe_stack(uint32_t id, gmt_frame *out) {
  std::lock_guard lock(registry.mutex);
  const Stack &stack = registry.stacks.at(id - 1);
  std::memcpy(out, stack.frames.data(), stack.frames.size() * sizeof *out);
  return static_cast<uint32_t>(stack.frames.size()) | (stack.cut ? 0x8000u : 0);
}

/// Copies a code object's record payload; returns its bytes.
PROBE uint32_t probe_code(uint32_t id, char *out) {
  std::lock_guard lock(registry.mutex);
  const std::vector<char> &code = registry.codes.at(id - 1);
  std::memcpy(out, code.data(), code.size());
  return static_cast<uint32_t>(code.size());
}

/// Describes the caller's innermost code object into `capacity` bytes; returns the bytes written.
PROBE size_t probe_describe(char *out, size_t capacity) {
  Walk now;
  return walk(now) ? describe_code(now.frames[0], 1, out, capacity) : 0;
}

PROBE uint32_t probe_code_count() { return static_cast<uint32_t>(registry.codes.size()); }

/// How often walk and walk_hash disagreed about one stack.
PROBE uint64_t probe_mismatches() { return mismatches.load(); }

PROBE void probe_call(void (*callback)()) { callback(); }

/// Runs the callback on a new native thread and waits for it.
PROBE void probe_call_on_thread(void (*callback)()) {
  pthread_t thread;
  auto run = [](void *data) -> void * {
    reinterpret_cast<void (*)()>(data)();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, reinterpret_cast<void *>(callback)) == 0) pthread_join(thread, nullptr);
}

/// What `probe` gives on a native thread without Python.
static uint32_t on_thread(uint32_t (*probe)()) {
  struct Call {
    uint32_t (*probe)();
    uint32_t answer;
  } call = {probe, ~0u};
  pthread_t thread;
  auto run = [](void *data) -> void * {
    auto *call = static_cast<Call *>(data);
    call->answer = call->probe();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, &call) == 0) pthread_join(thread, nullptr);
  return call.answer;
}
PROBE uint32_t probe_capture_on_thread() { return on_thread(probe_capture); }
PROBE uint32_t probe_discover_on_thread() { return on_thread(probe_discover); }

/// What a thread is told that asks while another one looks for Python. That one is held up meanwhile: the loader's lock,
/// which it needs, is taken here.
PROBE uint32_t probe_discover_together() {
  struct Asking {
    pthread_t thread;
    uint32_t answer;
  };
  static Asking first, second;
  auto ask = [](void *data) -> void * {
    static_cast<Asking *>(data)->answer = probe_discover();
    return nullptr;
  };
  static void *(*const run)(void *) = ask;
  dl_iterate_phdr(
      [](dl_phdr_info *, size_t, void *) {
        pthread_create(&first.thread, nullptr, run, &first);
        usleep(50'000);
        pthread_create(&second.thread, nullptr, run, &second);
        usleep(5'000);
        return 1;
      },
      nullptr);
  pthread_join(first.thread, nullptr);
  pthread_join(second.thread, nullptr);
  return second.answer;
}

/// Walks every `pause_ns` for as long as the process lives; for the time of finalization.
PROBE void probe_walk_forever(uint32_t pause_ns) {
  using clock = std::chrono::steady_clock;
  for (;;) {
    Walk now;
    if (walk_hash() != 0) walk(now);
    auto until = clock::now() + std::chrono::nanoseconds(pause_ns);
    while (clock::now() < until) {
    }
  }
}

/// Nanoseconds a walk of the caller's stack takes: the least mean of `rounds` rounds of `count` walks.
PROBE double probe_measure(uint32_t rounds, uint32_t count, int full) {
  using clock = std::chrono::steady_clock;
  double least = 1e300;
  uint64_t sum = 0;
  Walk now;
  for (uint32_t round = 0; round < rounds; round++) {
    auto start = clock::now();
    for (uint32_t i = 0; i < count; i++) {
      if (full) walk(now);
      sum += full ? now.hash : walk_hash();
    }
    double mean = std::chrono::duration<double, std::nano>(clock::now() - start).count() / count;
    if (mean < least) least = mean;
  }
  return sum == 1 ? -1 : least;
}
