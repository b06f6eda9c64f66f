#pragma once
// What the model keeps of a resolved Python stack.
#include <cstdint>
#include <string>
#include <string_view>

#include "model/state/names.h"
#include "model/state/types.h"
#include "trace/archive.h"

namespace gmt::model {

struct StackSummary {
  uint64_t content = 0;  ///< hash over (file, line, function) of every frame; equal stacks have equal ones
  bool resolved = false;
  bool before_attach = false;
  bool generated = false;       ///< a compiler's code is in the stack
  bool calls_backward = false;  ///< holds `backward` or `grad` of torch/autograd
  Pass pass = Pass::Other;      ///< of an allocation with this stack; forward is not reported by it
  std::string file;             ///< of the user frame, else of the innermost one
  uint32_t line = 0;
  std::string function;
  std::string search;  ///< `file:line` and function in lower case
  void checkpoint(trace::Archive &a) {
    a(content, resolved, before_attach, generated, calls_backward, pass, file, line, function, search);
  }
};

/// `step` of `Optimizer.step`.
std::string_view last_name(std::string_view qualified);

uint64_t hash_of(std::string_view text);

std::string lower_case(std::string text);

/// `stack` is resolved; without frames the summary has no line.
StackSummary summarize(const Stack &stack);

}  // namespace gmt::model
