#pragma once
// What a training would do, as events: for benches.
#include <random>
#include <string>
#include <vector>

#include "log_writer.h"
#include "model_fixture.h"

namespace gmt::test {

constexpr uint32_t kSites = 5000;
constexpr size_t kLive = 100'000;
constexpr uint16_t kThreads = 4;

enum class Pattern {
  Training,  ///< most blocks stay; a step allocates line after line, then frees in the opposite order
  Random,    ///< any block may be the next to go: memory is touched without a pattern
};

/// Allocations and frees in equal numbers with kLive blocks alive. Threads take turns of about 256 events, each with
/// lines of its own, and free what any of them made.
class Load {
 public:
  explicit Load(Pattern pattern) : pattern_(pattern) {}

  Step next() {
    if (random_() % 256 == 0) thread_ = static_cast<uint16_t>(random_() % kThreads);
    return must_free() ? free_one() : allocate_one();
  }

 private:
  static constexpr size_t kStep = 10'000;  ///< blocks that a training step adds at its peak

  bool must_free() {
    if (live_.size() >= kLive) backward_ = true;
    if (pattern_ == Pattern::Random) return live_.size() >= kLive && (flip_ = !flip_);
    if (live_.size() + kStep <= kLive) backward_ = false;
    // Half of what a forward pass allocates goes at once, half of what a backward pass frees was made by it.
    return live_.size() + kStep > kLive && (backward_ ? random_() % 4 != 0 : random_() % 4 == 0);
  }
  Step free_one() {
    if (pattern_ == Pattern::Random) std::swap(live_[random_() % live_.size()], live_.back());
    const uint64_t address = live_.back();
    live_.pop_back();
    free_.push_back(address);
    return {GMT_TENSOR_FREE, address, 512, 0, thread_};
  }
  Step allocate_one() {
    const uint64_t address = free_.size() > 64 ? take_free() : 0x7f0000000000ull + 512 * made_++;
    live_.push_back(address);
    const uint64_t line = pattern_ == Pattern::Random ? random_() : line_++;
    const auto stack = 1 + thread_ + kThreads * static_cast<uint32_t>(line % (kSites / kThreads));
    return {GMT_TENSOR_ALLOC, address, 512 * (1 + random_() % 1000), 0, thread_, stack};
  }
  uint64_t take_free() {
    if (pattern_ == Pattern::Random) std::swap(free_[random_() % free_.size()], free_.back());
    const uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }

  Pattern pattern_;
  std::mt19937_64 random_{1};
  std::vector<uint64_t> live_, free_;
  uint64_t made_ = 0;
  uint64_t line_ = 0;
  uint16_t thread_ = 0;
  bool flip_ = false;
  bool backward_ = false;
};

inline std::string file_of(uint32_t stack) { return "src/module" + std::to_string(stack % 97) + ".py"; }

inline void write_log(Pattern pattern, const std::string &directory, uint64_t events) {
  LogWriter writer(directory);
  for (uint16_t thread = 0; thread < kThreads; ++thread) writer.add_thread(100u + thread, "python");
  for (uint32_t stack = 1; stack <= kSites; ++stack) {
    writer.add_stack_of(
        0, {{"/lib/python3.11/site-packages/torch/nn/linear.py", "forward", 125}, {file_of(stack), "forward", stack}});
  }
  Load load(pattern);
  for (uint64_t i = 0; i < events; ++i) {
    const Step step = load.next();
    writer.add_event(step.thread, step.kind, step.address, step.bytes, step.device, step.stack);
  }
  writer.end();
}

}  // namespace gmt::test
