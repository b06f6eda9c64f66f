#pragma once
// What the model needs from elsewhere: the names behind the numbers in events.
#include <cstdint>
#include <string>

#include "trace/stack.h"

namespace gmt::model {

using trace::Frame;
using trace::Stack;

/// Names of stacks, threads and processes. The model calls it once per new stack id and for what a query shows.
class Names {
 public:
  virtual ~Names() = default;
  /// False while the stack is not known (its record has not been read yet).
  virtual bool stack(uint32_t process, uint32_t stack, Stack &out) const = 0;
  /// Path of the module that is called in a stack, as ProcessTables::module_path gives it.
  virtual std::string module_path(uint32_t process, uint32_t stack) const = 0;
  /// How often it was reported what the process's compiler-made code stands for: stacks with such code have other frames since.
  virtual size_t generated_count(uint32_t) const { return 0; }
  /// `python:123`: name and tid.
  virtual std::string thread(uint32_t process, uint32_t thread) const = 0;
  /// Path of a library that called the driver. Empty while it is not known, as with stacks.
  virtual std::string library(uint32_t process, uint32_t library) const = 0;
  /// `train.py (123)`: script and pid.
  virtual std::string process(uint32_t process) const = 0;
};

}  // namespace gmt::model
