// A bounded fuzz run that is the same each time: mutate KIND RUNS [FIRST]. Prints the run it is in when it crashes.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz.h"
#include "seeds.h"

#define GMT_KINDS(X) X(log) X(container) X(checkpoint) X(pickle) X(line_table) X(elf) X(text)
#define GMT_DECLARE(kind) FUZZ(kind, const uint8_t *data, size_t size);
GMT_KINDS(GMT_DECLARE)

namespace {

using Target = int (*)(const uint8_t *, size_t);

Target target_of(const char *kind) {
#define GMT_FIND(name) \
  if (std::strcmp(kind, #name) == 0) return fuzz_##name;
  GMT_KINDS(GMT_FIND)
  return nullptr;
}

unsigned long current_run = 0;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  size_t below(size_t count) { return count ? next() % count : 0; }

 private:
  uint64_t state_;
};

// Words that parsers get wrong: limits, signs, lengths.
constexpr uint64_t kWords[] = {0,          1,           2,          0x7f,      0x80,       0xff,
                               0x7fff,     0x8000,      0xffff,     0x10000,   0x7fffffff, 0x80000000,
                               0xffffffff, 0x100000000, 262144,     65536,     8190,       8191,
                               1ull << 47, 1ull << 62,  1ull << 63, ~0ull - 1, ~0ull,      (1ull << 63) | 1};

void mutate(std::vector<uint8_t> &bytes, Random &random) {
  if (bytes.empty()) return;
  size_t at = random.below(bytes.size());
  // Damage where the structures are more often than in the long empty parts.
  if (random.below(2)) {
    for (size_t tries = 0; tries < 64 && bytes[at] == 0; ++tries) at = random.below(bytes.size());
  }
  if (random.below(4) == 0) at &= ~size_t{7};
  size_t width = std::min<size_t>(size_t{1} << random.below(4), bytes.size() - at);
  switch (random.below(7)) {
    case 0:
      bytes[at] ^= static_cast<uint8_t>(1u << random.below(8));
      break;
    case 1:
      bytes[at] = static_cast<uint8_t>(random.next());
      break;
    case 2:
      std::memcpy(&bytes[at], &kWords[random.below(std::size(kWords))], width);
      break;
    case 3: {
      uint64_t word = random.next();
      std::memcpy(&bytes[at], &word, width);
      break;
    }
    case 4: {
      size_t from = random.below(bytes.size());
      size_t count = std::min({random.below(256), bytes.size() - at, bytes.size() - from});
      std::memmove(&bytes[at], &bytes[from], count);
      break;
    }
    case 5:
      std::fill_n(&bytes[at], std::min(random.below(4096), bytes.size() - at), 0);
      break;
    case 6:
      if (random.below(4) == 0) bytes.resize(at + 1);
      break;
  }
}

void say_run(int signal) {
  char text[64];
  int count = std::snprintf(text, sizeof text, "run %lu: signal %d\n", current_run, signal);
  if (::write(2, text, static_cast<size_t>(count)) < 0) ::_exit(2);
  ::_exit(1);
}

}  // namespace

int main(int argc, char **argv) {
  const Target target = argc < 3 ? nullptr : target_of(argv[1]);
  if (!target) {
    std::fprintf(stderr, "usage: %s KIND RUNS [FIRST]\n", argv[0]);
    return 2;
  }
  for (int signal : {SIGILL, SIGTRAP, SIGBUS, SIGALRM}) ::signal(signal, say_run);
  std::vector<std::vector<uint8_t>> seeds = seeds_of(argv[1]);
  unsigned long runs = std::strtoul(argv[2], nullptr, 10);
  unsigned long first = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  for (current_run = first; current_run < first + runs; ++current_run) {
    Random random(current_run + 1);
    std::vector<uint8_t> input = seeds[current_run % seeds.size()];
    size_t changes = current_run < seeds.size() ? 0 : 1 + random.below(8);
    for (size_t i = 0; i < changes; ++i) mutate(input, random);
    ::alarm(20);  // an input that takes this long is a fault too
    target(input.data(), input.size());
  }
  std::printf("%lu runs from %zu seeds\n", runs, seeds.size());
  return 0;
}
