#include <string_view>

#include "inject/agent/natives.h"

namespace gmt::inject {
namespace {

// What calls the engine in PyTorch's Python part: torch.autograd.backward() and grad(), from 2.2 on a function in graph.py.
constexpr std::string_view kCallers[] = {"torch/autograd/__init__.py", "torch/autograd/graph.py"};
constexpr uint32_t kFrames = 128;  ///< of a thread that are looked at

bool calls_engine(Py *frame) {
  const Held code(g_api->attribute(frame, "f_code"));
  const Held file(code ? g_api->attribute(code, "co_filename") : nullptr);
  ssize_t bytes = 0;
  const char *text = file ? g_api->text_bytes(file, &bytes) : nullptr;
  if (!text) return false;
  const std::string_view path(text, static_cast<size_t>(bytes));
  return path.ends_with(kCallers[0]) || path.ends_with(kCallers[1]);
}

bool thread_in_backward(Py *innermost) {
  Py *frame = innermost;
  g_api->hold(frame);
  bool found = false;
  for (uint32_t i = 0; i < kFrames && frame && frame != g_api->none && !found; i++) {
    const Held inner(frame);
    found = calls_engine(inner);
    frame = g_api->attribute(inner, "f_back");
  }
  if (frame) g_api->drop(frame);
  return found;
}

}  // namespace

bool in_backward(Py *current_frames) {
  const Held frames(g_api->call(current_frames, nullptr));
  bool found = !frames;
  ssize_t at = 0;
  for (Py *key = nullptr, *frame = nullptr; !found && g_api->dict_next(frames, &at, &key, &frame);)
    found = thread_in_backward(frame);
  g_api->error_clear();
  return found;
}

Py *gradients(Py *getter, Py *current_frames, Py *tensors) {
  if (in_backward(current_frames)) return nullptr;
  Py *list = g_api->list_new(0);
  for (ssize_t i = 0; list && i < g_api->list_size(tensors); i++) {
    Py *tensor = g_api->list_item(tensors, i);
    append_new(list, tensor == g_api->none ? nullptr : g_api->call(getter, tensor, nullptr));
  }
  return list;
}

}  // namespace gmt::inject
