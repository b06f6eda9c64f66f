#include "trace/snapshot/snapshot_stacks.h"

#include <algorithm>
#include <string>

#include "trace/log/user_frame.h"

namespace gmt::trace {
namespace {

constexpr size_t kTextBytes = 4096;
constexpr uint16_t kAnyPython = 0x0300;  // the line is the code's first one: no table is read
constexpr uint32_t kFirstLine = 0xffffffff;

// The functions with which PyTorch takes a stack are the innermost frames of every one with native frames.
bool of_recorder(std::string_view name) {
  for (std::string_view part : {"unwind::unwind", "CapturedTraceback::gather", "gather_with_cpp"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

/// `torch::autograd::Node::apply(std::vector<...>&&) const` without its parameters: the name alone is enough to read, and long.
std::string_view without_parameters(std::string_view name) {
  const size_t close = name.rfind(')');
  const bool has_some = close != std::string_view::npos && name.substr(close).find("::") == std::string_view::npos;
  size_t depth = 0;
  for (size_t at = has_some ? close + 1 : 0; at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at > 0 ? name.substr(0, at) : name;
  }
  return name;
}

}  // namespace

uint32_t SnapshotStacks::code(Value frame) {
  if (!frame.is(Value::kDict)) return 0;
  uint32_t &known = known_[frame.payload()];
  if (known != kUnknown) return known;
  const Fields fields = fields_.read(frame);
  Code code{path(tree_.text(fields["filename"]).substr(0, kTextBytes)),
            tree_.text(fields["name"]).substr(0, kTextBytes), 0, false, false};
  const int64_t line = tree_.integer(fields["line"]).value_or(0);
  if (line > 0 && line <= INT32_MAX) code.line = static_cast<uint32_t>(line);
  code.native = native_source(code.file);
  code.recorder = code.native && of_recorder(code.name);
  if (code.native) code.name = without_parameters(code.name);
  if (code.file == "??") code.file = {};
  return known = number_of(code);
}

uint32_t SnapshotStacks::number_of(const Code &code) {
  std::string key(code.file);
  key.append(1, '\0').append(code.name).append(1, '\0').append(std::to_string(code.line));
  const auto [place, added] = code_numbers_.try_emplace(std::move(key), static_cast<uint32_t>(codes_.size() + 1));
  if (added) codes_.push_back(code);
  return place->second;
}

std::string_view SnapshotStacks::path(std::string_view file) {
  const bool windows = file.find('\\') != file.npos && file[0] != '/' && file[0] != '<';
  if (!windows) return file;
  std::string &own = windows_paths_.emplace_back(file);
  std::ranges::replace(own, '\\', '/');
  return own;
}

void SnapshotStacks::name_backward(Codes &codes) {
  bool engine = false;
  std::string_view operation = "without Python frames";
  for (size_t i = codes.size(); i-- > 0;) {
    const Code &code = codes_[codes[i] - 1];
    if (!code.native || code.name.find("Backward") != code.name.npos) return;
    engine = engine || (code.name.starts_with("torch::autograd::") && code.name.find("Engine::") != code.name.npos);
    if (code.name.starts_with("at::_ops::")) operation = code.name;
  }
  if (engine) codes.push_back(number_of({"<backward pass>", operation, 0, false, false}));
}

uint32_t SnapshotStacks::stack(Value frames) {
  if (!frames.is(Value::kList) && !frames.is(Value::kTuple)) return 0;
  uint32_t &known = known_[frames.payload()];
  if (known != kUnknown) return known;
  Codes &codes = codes_now_;
  codes.clear();
  for (const Value frame : tree_.items(frames)) {
    const uint32_t number = code(frame);
    const bool shown = number != 0 && !(codes.empty() && codes_[number - 1].recorder);
    if (shown) codes.push_back(number);
  }
  name_backward(codes);
  const bool cut = codes.size() > GMT_MAX_FRAMES;
  if (cut) shorten(codes);
  return known = codes.empty() ? 0 : add(codes, cut);
}

void SnapshotStacks::shorten(Codes &codes) const {
  Codes python;
  std::copy_if(codes.begin(), codes.end(), std::back_inserter(python),
               [&](uint32_t number) { return !codes_[number - 1].native; });
  if (!python.empty()) codes = std::move(python);
  if (codes.size() > GMT_MAX_FRAMES) codes.resize(GMT_MAX_FRAMES);
}

uint32_t SnapshotStacks::add(const Codes &codes, bool cut) {
  const auto [place, added] = stack_numbers_.try_emplace(codes, static_cast<uint32_t>(stacks_.size() + 1));
  if (added) stacks_.push_back({&place->first, static_cast<uint16_t>(cut ? GMT_STACK_CUT : 0)});
  return place->second;
}

uint32_t SnapshotStacks::before(uint32_t stack) {
  const auto [place, added] = before_.try_emplace(stack, static_cast<uint32_t>(stacks_.size() + 1));
  if (added) {
    Stack copy = stack == 0 ? Stack{nullptr, 0} : stacks_[stack - 1];
    copy.flags |= GMT_STACK_BEFORE_ATTACH;
    stacks_.push_back(copy);
  }
  return place->second;
}

void SnapshotStacks::write(LogBuilder &log) const {
  for (uint32_t i = 0; i < codes_.size(); ++i) {
    const Code &code = codes_[i];
    const gmt_code_record record{i + 1,
                                 code.line,
                                 code.native ? uint16_t{0} : kAnyPython,
                                 0,
                                 static_cast<uint32_t>(code.file.size()),
                                 static_cast<uint32_t>(code.name.size()),
                                 0};
    log.record(GMT_CODE, {part(record), part(code.file), part(code.name)});
  }
  std::vector<gmt_frame> frames;
  for (uint32_t i = 0; i < stacks_.size(); ++i) {
    frames.clear();
    if (stacks_[i].codes) {
      for (const uint32_t number : *stacks_[i].codes) frames.push_back({number, kFirstLine});
    }
    const gmt_stack_record record{i + 1, static_cast<uint16_t>(frames.size()), stacks_[i].flags};
    log.record(GMT_STACK, {part(record), std::as_bytes(std::span(frames))});
  }
}

}  // namespace gmt::trace
