#pragma once
// What the model asks of others: the names behind the numbers in events.
#include <cstdint>
#include <string>
#include <vector>

namespace gmt::model {

struct Frame {
  std::string file;
  uint32_t line = 0;
  std::string function;
};

struct Stack {
  std::vector<Frame> frames;   ///< innermost first
  int32_t user_frame = -1;     ///< the user's innermost own frame, -1 = none
  bool cut = false;            ///< the outermost frames are missing
  bool before_attach = false;  ///< no frames: the memory was there before the tracer came
};

/// Names of stacks, threads and processes. The model calls it once per new stack id and for what a query shows.
class Names {
 public:
  virtual ~Names() = default;
  /// False while the stack is not known (its record has not been read yet).
  virtual bool stack(uint32_t process, uint32_t stack, Stack &out) const = 0;
  /// `python:123`: name and tid.
  virtual std::string thread(uint32_t process, uint16_t thread) const = 0;
  /// Path of a library that called the driver. Empty while it is not known, as with stacks.
  virtual std::string library(uint32_t process, uint32_t library) const = 0;
  /// `train.py (123)`: script and pid.
  virtual std::string process(uint32_t process) const = 0;
};

}  // namespace gmt::model
