#include "inject/agent/gradients.h"

#include <string.h>

namespace gmt::inject {
namespace {

// What calls the engine in PyTorch's Python part: torch.autograd.backward() and grad(), from 2.2 on a function in graph.py.
constexpr const char *kCallers[] = {"torch/autograd/__init__.py", "torch/autograd/graph.py"};
constexpr uint32_t kFrames = 128;  ///< of a thread that are looked at

bool calls_engine(const PythonApi &api, Py *frame) {
  Py *code = api.attribute(frame, "f_code");
  Py *file = code ? api.attribute(code, "co_filename") : nullptr;
  ssize_t bytes = 0;
  const char *path = file ? api.text_bytes(file, &bytes) : nullptr;
  bool calls = false;
  for (const char *caller : kCallers) {
    const auto end = static_cast<ssize_t>(strlen(caller));
    calls = calls || (path && bytes >= end && memcmp(path + bytes - end, caller, static_cast<size_t>(end)) == 0);
  }
  if (file) api.drop(file);
  if (code) api.drop(code);
  return calls;
}

bool thread_in_backward(const PythonApi &api, Py *innermost) {
  Py *frame = innermost;
  api.hold(frame);
  bool found = false;
  for (uint32_t i = 0; i < kFrames && frame && frame != api.none && !found; i++) {
    found = calls_engine(api, frame);
    Py *back = api.attribute(frame, "f_back");
    api.drop(frame);
    frame = back;
  }
  if (frame) api.drop(frame);
  return found;
}

}  // namespace

bool in_backward(const PythonApi &api, Py *current_frames) {
  Py *frames = api.call(current_frames, nullptr);
  if (!frames) {
    api.error_clear();
    return true;
  }
  bool found = false;
  ssize_t at = 0;
  for (Py *key = nullptr, *frame = nullptr; !found && api.dict_next(frames, &at, &key, &frame);)
    found = thread_in_backward(api, frame);
  api.drop(frames);
  api.error_clear();
  return found;
}

Py *gradients(const PythonApi &api, Py *getter, Py *current_frames, Py *tensors) {
  if (in_backward(api, current_frames)) return nullptr;
  Py *list = api.list_new(0);
  for (ssize_t i = 0; list && i < api.list_size(tensors); i++) {
    Py *tensor = api.list_item(tensors, i);
    Py *gradient = tensor == api.none ? nullptr : api.call(getter, tensor, nullptr);
    api.list_append(list, gradient ? gradient : api.none);
    if (gradient) api.drop(gradient);
    api.error_clear();
  }
  return list;
}

}  // namespace gmt::inject
