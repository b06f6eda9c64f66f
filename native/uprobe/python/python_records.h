#pragma once
// Turns what the Python walk queues into the side records of one process's log.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "python/frames.h"
#include "python/text.h"
#include "uprobe/bpf/python_ring.h"
#include "uprobe/python/native_symbols.h"

namespace gmt::uprobe {

/// A record of the ring, in `bytes` bytes; null: it is longer.
template <class T>
const T *as(const void *record, size_t bytes, size_t least = sizeof(T)) {
  return bytes >= least ? static_cast<const T *>(record) : nullptr;
}

class PythonRecords {
 public:
  /// Writes one side record; false: there was no room (counted by it).
  using Write = std::function<bool(gmt_side_record_kind kind, const void *payload, uint32_t bytes)>;
  /// Counts events or records that are lost.
  using Lose = std::function<void(gmt_loss cause, uint64_t count)>;

  PythonRecords(Write write, Lose lose) : write_(std::move(write)), lose_(std::move(lose)) {}

  /// The id in the log of what an event's head has in `stack`; 0: none, or the table is full (counted).
  uint32_t stack_id(uint64_t hash) {
    if (hash == 0) return 0;
    const auto known = stack_ids_.find(hash);
    if (known != stack_ids_.end()) return known->second;
    if (stack_ids_.size() >= kMostStacks) {
      lose_(GMT_LOST_STACK_TABLE, 1);
      return 0;
    }
    return stack_ids_.emplace(hash, static_cast<uint32_t>(stack_ids_.size() + 1)).first->second;
  }

  /// Takes a record of a type from GMT_UP_PYTHON_FIRST to GMT_UP_PYTHON_LAST. False: it contradicts itself; nothing was done.
  bool handle(const void *record, size_t bytes) {
    const auto *head = as<gmt_up_head>(record, bytes);
    if (!head) return false;
    switch (head->type) {
      case GMT_UP_PYTHON_CODE:
        return handle_code(record, bytes);
      case GMT_UP_PYTHON_PART:
        return handle_part(record, bytes);
      case GMT_UP_PYTHON_STACK:
        return handle_python_stack(record, bytes);
      case GMT_UP_NATIVE_STACK:
        return names_ && handle_native_stack(record, bytes);
      default:
        return false;
    }
  }

  /// From here on native stacks are taken too.
  void resolve_native_by(std::unique_ptr<AddressNames> names) { names_ = std::move(names); }
  void libraries_changed() {
    if (names_) names_->libraries_changed();
  }

  size_t codes() const { return written_codes_.size(); }
  size_t stacks() const { return written_stacks_.size(); }

 private:
  // As many as the tables of the in-process tracer hold.
  static constexpr size_t kMostStacks = 1u << 20, kMostCodes = 1u << 18;
  /// Threads whose code objects are coming at one moment; more only where records were lost.
  static constexpr size_t kMostComing = 1024;
  static constexpr char kUnreadable[] = "?";
  /// The part as UTF-8, as `describe_code` gives it.
  static std::string text_of(const std::vector<char> &part, uint32_t width, size_t most) {
    if (part.empty()) return {};
    std::string text(most, '\0');
    text.resize(python::put_text(part.data(), width, part.size() / width, text.data(), most));
    return text;
  }
  static bool is_width(uint8_t width) { return width == 1 || width == 2 || width == 4; }

  /// A code object whose parts are still coming.
  struct Coming {
    gmt_up_python_code about;
    std::vector<char> parts[GMT_PARTS];
  };
  bool handle_code(const void *record, size_t bytes) {
    const auto *about = as<gmt_up_python_code>(record, bytes);
    if (!about || !is_width(about->width[0]) || !is_width(about->width[1])) return false;
    if (about->bytes[GMT_PART_FILE] > GMT_PYTHON_FILE_CHARACTERS * 4 ||
        about->bytes[GMT_PART_NAME] > GMT_PYTHON_NAME_CHARACTERS * 4 ||
        about->bytes[GMT_PART_TABLE] > GMT_PYTHON_TABLE_BYTES)
      return false;
    if (coming_.size() >= kMostComing) coming_.clear();
    coming_.insert_or_assign(about->head.thread, Coming{*about, {}});
    finish(about->head.thread);
    return true;
  }
  bool handle_part(const void *record, size_t bytes) {
    constexpr size_t kHead = offsetof(gmt_up_python_part, data);
    const auto *part = as<gmt_up_python_part>(record, bytes, kHead);
    if (!part || part->part >= GMT_PARTS || part->bytes > bytes - kHead) return false;
    const auto place = coming_.find(part->head.thread);
    if (place == coming_.end()) return false;
    Coming &coming = place->second;
    std::vector<char> &got = coming.parts[part->part];
    if (coming.about.head.stack != part->head.stack || part->offset != got.size() ||
        part->bytes > coming.about.bytes[part->part] - got.size())
      return false;
    got.insert(got.end(), part->data, part->data + part->bytes);
    finish(part->head.thread);
    return true;
  }
  /// A stack whose frames `frame_of(record, i)` gives.
  template <class Stack, class FrameOf>
  bool handle_stack(const void *record, size_t bytes, size_t frame_bytes, FrameOf frame_of) {
    constexpr size_t kHead = offsetof(gmt_up_python_stack, frames);
    static_assert(kHead == offsetof(gmt_up_native_stack, addresses));
    const auto *stack = as<Stack>(record, bytes, kHead);
    if (!stack || stack->head.stack == 0 || stack->depth > GMT_MAX_FRAMES || bytes - kHead < stack->depth * frame_bytes)
      return false;
    if (written_stacks_.contains(stack->head.stack)) return true;
    std::vector<gmt_frame> frames;
    for (uint32_t i = 0; i < stack->depth; i++) frames.push_back(frame_of(*stack, i));
    write_stack(stack->head.stack, stack->cut, frames);
    return true;
  }
  bool handle_python_stack(const void *record, size_t bytes) {
    return handle_stack<gmt_up_python_stack>(record, bytes, sizeof(gmt_python_frame),
                                             [this](const auto &stack, uint32_t i) {
                                               return gmt_frame{code_id(stack.frames[i].code), stack.frames[i].offset};
                                             });
  }
  bool handle_native_stack(const void *record, size_t bytes) {
    return handle_stack<gmt_up_native_stack>(record, bytes, sizeof(uint64_t), [this](const auto &stack, uint32_t i) {
      return describe(stack.addresses[i], i != 0);
    });
  }
  uint32_t code_id(uint64_t key) {
    const auto known = code_ids_.find(key);
    if (known != code_ids_.end()) return known->second;
    if (code_ids_.size() >= kMostCodes) return 0;
    return code_ids_.emplace(key, static_cast<uint32_t>(code_ids_.size() + 1)).first->second;
  }
  /// Writes the thread's code object once all of it is here.
  void finish(uint32_t thread) {
    const auto place = coming_.find(thread);
    for (uint32_t part = 0; part < GMT_PARTS; part++)
      if (place->second.parts[part].size() < place->second.about.bytes[part]) return;
    write_code(place->second);
    coming_.erase(place);
  }
  void write_code(const Coming &coming) {
    const gmt_up_python_code &about = coming.about;
    std::string file = text_of(coming.parts[GMT_PART_FILE], about.width[0], python::kMaxFileBytes);
    std::string name = text_of(coming.parts[GMT_PART_NAME], about.width[1], python::kMaxNameBytes);
    if (about.text_unread & 1) file = kUnreadable;
    if (about.text_unread & 2) name = kUnreadable;
    gmt_code_record code = {};
    code.first_line = about.first_line;
    code.python_version = static_cast<uint16_t>(about.version >> 16);
    code.flags = about.table_cut ? GMT_CODE_CUT : 0;
    write_code(about.head.stack, code, file, name, coming.parts[GMT_PART_TABLE]);
  }
  void write_code(uint64_t key, const gmt_code_record &about, const std::string &file, const std::string &name,
                  const std::vector<char> &table) {
    gmt_code_record code = about;
    code.id = code_id(key);
    if (code.id == 0 || written_codes_.contains(key)) return;
    code.file_bytes = static_cast<uint32_t>(file.size());
    code.name_bytes = static_cast<uint32_t>(name.size());
    code.line_table_bytes = static_cast<uint32_t>(table.size());
    std::string payload(reinterpret_cast<const char *>(&code), sizeof code);
    payload.append(file).append(name).append(table.data(), table.size());
    if (write_(GMT_CODE, payload.data(), static_cast<uint32_t>(payload.size()))) written_codes_.insert(key);
  }
  /// A function is a code object without lines. An address that is returned to belongs to the call in front of it.
  gmt_frame describe(uint64_t address, bool returned_to) {
    const NativeFrame frame = names_->resolve(address - returned_to);
    gmt_code_record about = {};
    about.flags = GMT_CODE_CUT;
    const uint64_t key = frame.function;
    write_code(key, about, frame.file.substr(0, python::kMaxFileBytes), frame.name.substr(0, python::kMaxNameBytes),
               {});
    return {code_id(key), frame.offset};
  }
  void write_stack(uint64_t hash, bool cut, const std::vector<gmt_frame> &frames) {
    const gmt_stack_record about = {stack_id(hash), static_cast<uint16_t>(frames.size()),
                                    static_cast<uint16_t>(cut ? GMT_STACK_CUT : 0)};
    if (about.id == 0) return;
    for (const gmt_frame &frame : frames)
      if (frame.code == 0) lose_(GMT_LOST_NAME, 1);
    std::string payload(reinterpret_cast<const char *>(&about), sizeof about);
    payload.append(reinterpret_cast<const char *>(frames.data()), frames.size() * sizeof(gmt_frame));
    if (write_(GMT_STACK, payload.data(), static_cast<uint32_t>(payload.size()))) written_stacks_.insert(hash);
  }

  Write write_;
  Lose lose_;
  std::unique_ptr<AddressNames> names_;
  std::unordered_map<uint32_t, Coming> coming_;  ///< by number of the thread
  std::unordered_map<uint64_t, uint32_t> stack_ids_, code_ids_;
  std::unordered_set<uint64_t> written_stacks_, written_codes_;
};

}  // namespace gmt::uprobe
