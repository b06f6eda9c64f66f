#include "trace/log/process_tables.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "trace/log/line_table.h"
#include "trace/log/record_payloads.h"
#include "trace/log/user_frame.h"

namespace gmt::trace {
namespace {

// Notes repeat at most once a text; a damaged or hostile log must not fill the memory with them.
constexpr size_t kMaxNotes = 1000;
constexpr uint32_t kMaxDevices = 254;
constexpr size_t kMaxLibraries = 4096;

}  // namespace

void ProcessTables::checkpoint(Archive &a) {
  a(threads_, thread_at_, devices_, notes_, libraries_, command_, python_version_, codes_, stacks_, frames_,
    module_calls_, module_paths_, generated_, generated_count_);
  a.hold(thread_at_.size() == threads_.size());
  for (const auto &[number, place] : thread_at_) a.hold(place < threads_.size());
  for (const auto &[id, stack] : stacks_) {
    a.hold(stack.begin <= frames_.size() && stack.frames <= frames_.size() - stack.begin);
  }
}

bool ProcessTables::add(uint8_t kind, Payload payload) {
  switch (kind) {
    case GMT_CODE:
      return add_code(payload);
    case GMT_STACK:
      return add_stack(payload);
    case GMT_DEVICE:
      return with_text(payload, &gmt_device_record::name_bytes, [&](const auto &record, std::string &&name) {
        if (record.device > kMaxDevices) return false;
        auto place = std::ranges::find(devices_, record.device, &Device::index);
        if (place == devices_.end()) place = devices_.insert(place, Device{});
        *place = {record.device, std::move(name), record.total_bytes};
        return true;
      });
    case GMT_PROCESS:
      return with_text(payload, &gmt_process_record::command_bytes, [&](const auto &record, const std::string &text) {
        python_version_ = record.python_version;
        add_command(text);
      });
    case GMT_NOTE:
      return with_text(payload, &gmt_note::text_bytes, [&](const auto &record, std::string &&text) {
        const auto same = [&](const Note &note) { return note.code == record.code && note.text == text; };
        if (notes_.size() < kMaxNotes && std::ranges::none_of(notes_, same))
          notes_.push_back({record.code, std::move(text)});
      });
    case GMT_MODULE_CALL:
      return with_text(payload, &gmt_module_call::class_bytes, [&](const auto &record, std::string &&name) {
        module_calls_.try_emplace(record.stack, ModuleCall{record.module, std::move(name)});
      });
    case GMT_MODULE:
      return with_text(payload, &gmt_module::text_bytes, [&](const auto &record, std::string &&path) {
        module_paths_[record.module] = path.empty() ? kRootModule : std::move(path);
      });
    case GMT_GENERATED:
      return with_text(payload, &gmt_generated::text_bytes,
                       [&](const auto &record, const std::string &text) { add_generated(record.line, text); });
    case GMT_LIBRARY:
      return with_text(payload, &gmt_library::path_bytes, [&](const auto &record, std::string &&path) {
        if (record.id == 0) return false;
        if (libraries_.size() < kMaxLibraries && !library(record.id))
          libraries_.push_back({record.id, std::move(path)});
        return true;
      });
    default:
      return true;
  }
}

bool ProcessTables::add_thread(Payload payload, uint32_t number) {
  return with_text(payload, &gmt_thread_record::name_bytes, [&](const auto &record, std::string &&name) {
    const auto [place, added] = thread_at_.try_emplace(number, threads_.size());
    if (added) threads_.emplace_back();
    threads_[place->second] = {number, record.tid, std::move(name)};
  });
}

const Thread *ProcessTables::thread(uint32_t number) const {
  const auto place = thread_at_.find(number);
  return place == thread_at_.end() ? nullptr : &threads_[place->second];
}

bool ProcessTables::add_code(Payload payload) {
  gmt_code_record record;
  Code code;
  if (!read_record(payload, &record) || record.id == 0) return false;
  if (!read_text(payload, record.file_bytes, &code.file) || !read_text(payload, record.name_bytes, &code.name))
    return false;
  if (payload.size() < record.line_table_bytes) return false;
  const auto *table = reinterpret_cast<const uint8_t *>(payload.data());
  code.line_table.assign(table, table + record.line_table_bytes);
  code.first_line = record.first_line;
  code.python_version = record.python_version;
  code.flags = record.flags;
  codes_.try_emplace(record.id, std::move(code));
  return true;
}

bool ProcessTables::add_stack(Payload payload) {
  gmt_stack_record record;
  if (!read_record(payload, &record) || record.id == 0 || payload.size() < record.frames * sizeof(gmt_frame))
    return false;
  auto [place, added] = stacks_.try_emplace(record.id, StackRange{frames_.size(), record.frames, record.flags});
  if (!added) return true;
  frames_.resize(frames_.size() + record.frames);
  if (record.frames) std::memcpy(&frames_[place->second.begin], payload.data(), record.frames * sizeof(gmt_frame));
  return true;
}

void ProcessTables::add_generated(uint32_t first_line, const std::string &text) {
  std::istringstream lines(text);
  std::string file, place;
  Origin origin;
  std::getline(lines, file);
  std::getline(lines, origin.module);
  while (std::getline(lines, place)) {
    const size_t line = place.find('\t'), function = place.find('\t', line + 1);
    if (line == place.npos || function == place.npos) continue;
    const auto number = static_cast<uint32_t>(std::strtoul(place.c_str() + line + 1, nullptr, 10));
    origin.frames.push_back({place.substr(0, line), number, place.substr(function + 1)});
  }
  generated_[file][first_line] = std::move(origin);
  ++generated_count_;
}

void ProcessTables::add_command(const std::string &text) {
  command_.clear();
  std::istringstream arguments(text);
  for (std::string one; std::getline(arguments, one, '\0');) command_.push_back(one);
}

const ProcessTables::Origin *ProcessTables::origin(const Frame &frame) const {
  const auto file = generated_.find(frame.file);
  if (file == generated_.end()) return nullptr;
  const auto next = file->second.upper_bound(frame.line);
  return next == file->second.begin() ? nullptr : &std::prev(next)->second;
}

std::string ProcessTables::module_path(uint32_t stack_id) const {
  std::string called;
  if (const auto call = module_calls_.find(stack_id); call != module_calls_.end()) {
    const auto path = module_paths_.find(call->second.module);
    called = path != module_paths_.end() ? path->second : call->second.class_name + " (path unknown)";
  }
  const auto range = stacks_.find(stack_id);
  const StackRange none{}, &stack = range == stacks_.end() ? none : range->second;
  for (const gmt_frame &frame : std::span(frames_).subspan(stack.begin, stack.frames)) {
    const Frame shown = resolve_frame(frame);
    if (!made_by_inductor(shown.file)) continue;
    const Origin *from = origin(shown);
    const std::string module = from ? from->module : "";
    if (module == "." && !called.empty()) return called;
    if (module.starts_with('.') && !called.empty()) return called == kRootModule ? module.substr(1) : called + module;
    const auto inner = module_paths_.find(std::strtoull(module.c_str(), nullptr, 10));
    if (inner != module_paths_.end()) return inner->second;
    return called.empty() ? "compiled region" : "compiled region of " + called;
  }
  return called;
}

const std::string *ProcessTables::library(uint32_t id) const {
  const auto place = std::ranges::find(libraries_, id, &Library::id);
  return place == libraries_.end() ? nullptr : &place->path;
}

Frame ProcessTables::resolve_frame(const gmt_frame &frame) const {
  const auto place = codes_.find(frame.code);
  if (place == codes_.end()) return {"", 0, "?"};
  const Code &code = place->second;
  int line = code.flags & GMT_CODE_CUT
                 ? kNoLine
                 : line_of_offset(code.python_version, code.line_table, code.first_line, frame.offset);
  return {code.file, line > 0 ? static_cast<uint32_t>(line) : code.first_line, code.name};
}

const Stack *ProcessTables::resolve(uint32_t stack_id) {
  const auto range = stacks_.find(stack_id);
  if (range == stacks_.end()) return nullptr;
  resolved_ = {};
  resolved_.cut = range->second.flags & GMT_STACK_CUT;
  resolved_.before_attach = range->second.flags & GMT_STACK_BEFORE_ATTACH;
  for (const gmt_frame &frame : std::span(frames_).subspan(range->second.begin, range->second.frames)) {
    resolved_.frames.push_back(resolve_frame(frame));
    const Frame &shown = resolved_.frames.back();
    resolved_.generated = resolved_.generated || made_by_inductor(shown.file);
    if (const Origin *from = origin(shown))
      resolved_.frames.insert(resolved_.frames.end(), from->frames.begin(), from->frames.end());
  }
  resolved_.user_frame = user_frame(resolved_.frames);
  return &resolved_;
}

}  // namespace gmt::trace
