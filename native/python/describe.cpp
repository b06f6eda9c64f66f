// Copies what a reader needs of a code object.
#include <string.h>

#include "python/code_deaths.h"
#include "python/interpreter.h"
#include "python/text.h"

namespace gmt::python {
namespace {

/// A string that could not be read: a str whose characters lie elsewhere (made by long deprecated functions).
constexpr char kUnreadable[] = "?";

/// Bits of PyASCIIObject.state, the same from 3.9 to 3.14: interned:2, kind:3, compact:1, ascii:1.
struct StringState {
  uint32_t width;
  bool compact;
  bool ascii;
};
StringState state_of(const char *string) {
  uint32_t bits = load<uint32_t>(string, GMT_PYTHON_STRING_STATE);
  return {bits >> 2 & 7, (bits & 0x20) != 0, (bits & 0x40) != 0};
}

/// Writes at most `limit` bytes of whole characters. Returns how many.
uint32_t copy_string(const Layout &layout, const char *string, char *out, size_t limit) {
  StringState state = string ? state_of(string) : StringState{};
  if (!state.compact || (state.width != 1 && state.width != 2 && state.width != 4)) {
    memcpy(out, kUnreadable, 1);
    return 1;
  }
  uint64_t length = load<uint64_t>(string, GMT_PYTHON_STRING_LENGTH);
  const char *data = string + (state.ascii ? layout.string_ascii : layout.string_other);
  return static_cast<uint32_t>(put_text(data, state.width, length, out, limit));
}

/// Whether a string is ASCII and ends so.
bool ends_with(const Layout &layout, const char *string, const char *end) {
  if (!string || !state_of(string).compact || !state_of(string).ascii) return false;
  const uint64_t length = load<uint64_t>(string, GMT_PYTHON_STRING_LENGTH), end_length = strlen(end);
  return length >= end_length && memcmp(string + layout.string_ascii + length - end_length, end, end_length) == 0;
}

}  // namespace

bool learn_module_call(const Frame &frame, const Frame *caller) {
  if (!interpreter.ready.load(std::memory_order_acquire) || interpreter.module_call.load(std::memory_order_relaxed))
    return false;
  const auto is = [&](const void *code, const char *name) {
    const Layout &layout = interpreter.layout;
    return ends_with(layout, load<const char *>(code, layout.code_name), name) &&
           ends_with(layout, load<const char *>(code, layout.code_file), "torch/nn/modules/module.py");
  };
  // Up to PyTorch 2.0 the latter alone is there; since 2.1 it keeps its module elsewhere.
  if (!is(frame.code, "_wrapped_call_impl") &&
      (!is(frame.code, "_call_impl") || (caller && is(caller->code, "_wrapped_call_impl"))))
    return false;
  interpreter.module_call.store(frame.code, std::memory_order_relaxed);
  return true;
}

void forget_module_call() { interpreter.module_call.store(&interpreter, std::memory_order_relaxed); }

const char *class_name(const void *object) {
  constexpr size_t kTypeName = 24;  // PyTypeObject.tp_name
  return load<const char *>(load<const char *>(object, GMT_PYTHON_OBJECT_TYPE), kTypeName);
}

Frame remembered_frame(const void *code, uint32_t offset) { return {code, deaths_at(code), offset}; }

size_t describe_code(const Frame &frame, uint32_t id, void *buffer, size_t capacity) {
  if (capacity < kMinDescriptionBytes || !frame.code || !interpreter.ready.load(std::memory_order_acquire)) return 0;
  watch_code(frame.code);
  const Layout &layout = interpreter.layout;
  gmt_code_record record = {};
  record.id = id;
  record.first_line = load<uint32_t>(frame.code, layout.code_first_line);
  record.python_version = static_cast<uint16_t>(interpreter.version >> 16);

  char *out = static_cast<char *>(buffer) + sizeof record;
  record.file_bytes = copy_string(layout, load<const char *>(frame.code, layout.code_file), out, kMaxFileBytes);
  out += record.file_bytes;
  record.name_bytes = copy_string(layout, load<const char *>(frame.code, layout.code_full_name), out, kMaxNameBytes);
  out += record.name_bytes;

  size_t used = sizeof record + record.file_bytes + record.name_bytes;
  const char *table = load<const char *>(frame.code, layout.code_line_table);
  uint64_t table_bytes = table ? load<uint64_t>(table, GMT_PYTHON_BYTES_SIZE) : 0;
  if (table && table_bytes <= capacity - used) {
    memcpy(out, table + GMT_PYTHON_BYTES_DATA, table_bytes);
    record.line_table_bytes = static_cast<uint32_t>(table_bytes);
  } else {
    record.flags = GMT_CODE_CUT;
  }
  memcpy(buffer, &record, sizeof record);
  return used + record.line_table_bytes;
}

}  // namespace gmt::python
