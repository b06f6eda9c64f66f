#include "model/state/stack_summary.h"

#include <algorithm>

namespace gmt::model {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

uint64_t mix(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return mix(hash, text.size());
}

bool runs_backward(const Frame &frame) {
  if (frame.file.find("torch/autograd") == std::string::npos) return false;
  const std::string_view name = last_name(frame.function);
  return name == "backward" || name == "grad";
}

/// A function of Python that autograd's engine calls on a thread of its own.
bool called_by_engine(const Stack &stack) {
  return !stack.cut && !stack.frames.empty() && stack.frames.back().file.ends_with("torch/autograd/function.py");
}

bool runs_optimizer(const Frame &frame) { return frame.file.find("torch/optim/") != std::string::npos; }

}  // namespace

std::string_view last_name(std::string_view qualified) { return qualified.substr(qualified.rfind('.') + 1); }

uint64_t hash_of(std::string_view text) { return mix(0, text); }

std::string lower_case(std::string text) {
  for (char &c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

StackSummary summarize(const Stack &stack) {
  StackSummary summary;
  summary.resolved = true;
  summary.content = stack.before_attach ? 3 : stack.cut ? 2 : 1;
  summary.before_attach = stack.before_attach;
  summary.generated = stack.generated;
  for (const Frame &frame : stack.frames) {
    summary.content = mix(mix(mix(summary.content, frame.file), frame.line), frame.function);
    summary.calls_backward = summary.calls_backward || runs_backward(frame);
  }
  if (std::ranges::any_of(stack.frames, runs_optimizer))
    summary.pass = Pass::Optimizer;
  else if (summary.calls_backward || called_by_engine(stack))
    summary.pass = Pass::Backward;
  if (stack.frames.empty()) return summary;
  const Frame &shown = stack.frames[stack.user_frame < 0 ? 0 : static_cast<size_t>(stack.user_frame)];
  summary.file = shown.file;
  summary.line = shown.line;
  summary.function = shown.function;
  summary.search = lower_case(shown.file + ":" + std::to_string(shown.line) + "\n" + shown.function);
  return summary;
}

}  // namespace gmt::model
