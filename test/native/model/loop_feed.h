#pragma once
// A program that tells nothing of its steps: what it does is fed by rounds of its loop.
#include "check.h"
#include "model_step_feed.h"

namespace gmt::test {

constexpr uint32_t kSetup = 1, kInput = 2, kForward = 3, kLoss = 4, kLeak = 5, kLayer = 6;

/// A round of a loop: three blocks come and go, one of `leak` bytes stays.
struct LoopFeed : StepFeed {
  uint64_t kept = 0;
  std::vector<uint64_t> began;  ///< when each round did
  LoopFeed() { step_ns = 10'000; }
  void set_up(uint64_t blocks) {
    for (uint64_t i = 0; i < blocks; ++i) allocate(0x10000000 + i * 0x1000, 512, kSetup);
  }
  void round(uint64_t leak = 64, size_t layers = 0) {
    allocate(0x1000, 100, kInput);
    began.push_back(now_ns);
    for (size_t i = 0; i < layers; ++i) allocate(0x20000 + i * 0x1000, 10, kLayer);
    for (size_t i = 0; i < layers; ++i) free(0x20000 + i * 0x1000);
    allocate(0x2000, 200, kForward);
    allocate(0x3000, 4, kLoss);
    if (leak) allocate(0x40000000 + kept++ * 0x1000, leak, kLeak);
    for (uint64_t address : {0x1000, 0x2000, 0x3000}) free(address);
  }
  /// A training step by hand: forward, then an update of each parameter.
  void training_step(size_t parameters) {
    allocate(0x1000, 100, kInput);
    for (uint64_t i = 0; i < 2 * parameters; ++i)
      allocate(0x2000 + i * 0x1000, 200, kForward + static_cast<uint32_t>(i % 2) * 5);
    for (uint64_t i = 0; i < 2 * parameters; ++i) free(0x2000 + i * 0x1000);
    for (size_t i = 0; i < parameters; ++i) {
      allocate(0x10000000, 10, kLayer);
      allocate(0x20000000, 10, kLoss);
      free(0x10000000);
      free(0x20000000);
    }
    free(0x1000);
    allocate(0x40000000 + kept++ * 0x1000, 64, kLeak);
  }
  /// Of all rounds, the last one included.
  uint32_t count_steps() {
    put({GMT_PROCESS_ENDING, 0, 0, 0, 0, 0});
    return series().axis.count;
  }
  const model::ProcessSteps &steps() { return model.process(0)->steps; }
  std::string anchor_line() { return std::to_string(model.site(steps().anchor.site)->stack.frames[0].line); }
  size_t row_of_line(const model::SiteSeries &series, uint32_t line) {
    for (size_t row = 0; row < series.rows.size(); ++row) {
      if (model.site(series.rows[row].id)->stack.frames[0].line == line) return row;
    }
    return ~size_t{0};
  }
};

}  // namespace gmt::test
