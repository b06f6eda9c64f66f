#include "uprobe/attach/call_layout.h"

#include <algorithm>
#include <cstring>

namespace gmt::uprobe {
namespace {

struct Copied {
  int8_t argument;
  uint8_t bytes;
};

/// The struct behind a pointer of this call that says how much memory, or where.
Copied copied_struct(const gmt_call &call) {
  switch (call.source) {
    case GMT_SOURCE_ARRAY:
      return {1, 24};
    case GMT_SOURCE_ARRAY_3D:
    case GMT_SOURCE_MIPMAPPED:
      return {1, 32};
    case GMT_SOURCE_CREATE:
      return {2, 16};
    case GMT_SOURCE_BUFFER_DESC:
      return {2, 24};
    case GMT_SOURCE_ALLOC_NODE:
      return {call.address, 120};
    case GMT_SOURCE_NODE:
      return {call.address, GMT_UP_COPIED};
    default:
      return {-1, 0};
  }
}

bool is_read_by_value(const gmt_call &call) {
  constexpr uint8_t kByValue[] = {GMT_SOURCE_IN,         GMT_SOURCE_CONTEXT,
                                  GMT_SOURCE_DEVICE,     GMT_SOURCE_RELEASE_PRIMARY,
                                  GMT_SOURCE_ALLOC_NODE, GMT_SOURCE_NODE};
  return std::find(std::begin(kByValue), std::end(kByValue), call.source) != std::end(kByValue);
}

uint8_t register_count(const gmt_call &call) {
  const auto letters = std::strlen(call.args);
  return static_cast<uint8_t>(letters -
                              static_cast<size_t>(std::count(call.args, call.args + letters, cuda::kIpcHandle)));
}

}  // namespace

gmt_up_row shape_of(const gmt_call &call) {
  gmt_up_row row{};
  row.ends = cuda::ends_memory(call.kind);
  row.args = register_count(call);
  row.address = row.ends && call.address >= 0 ? static_cast<uint8_t>(call.address) : GMT_UP_NO_ARGUMENT;
  if (!is_read_by_value(call)) {
    row.out[row.outs++] = static_cast<uint8_t>(call.address);
    if (call.source == GMT_SOURCE_PITCH) row.out[row.outs++] = 1;
    if (call.source == GMT_SOURCE_MAPPED) row.out[row.outs++] = static_cast<uint8_t>(call.bytes);
  }
  const Copied copied = copied_struct(call);
  row.copied_argument = copied.argument < 0 ? GMT_UP_NO_ARGUMENT : static_cast<uint8_t>(copied.argument);
  row.copied = copied.bytes;
  row.small = copied.bytes == 0 && row.args + row.outs <= GMT_UP_SMALL_WORDS;
  return row;
}

bool read_queued_call(const gmt_up_call &record, size_t bytes, cuda::CallFacts *out) {
  const uint32_t words = record.args + record.outs + record.copied / 8u;
  if (record.head.row >= GMT_CALL_COUNT || record.args > GMT_UP_ARGS || record.outs > GMT_UP_OUTS ||
      record.copied > GMT_UP_COPIED || bytes < offsetof(gmt_up_call, words) + 8 * words)
    return false;
  const gmt_call &call = cuda::kCalls[record.head.row];
  const gmt_up_row shape = shape_of(call);
  if (record.args < shape.args) return false;
  const bool after = record.head.type == GMT_UP_RETURN && record.result == 0;
  // Pointers of the traced process become pointers to the copies; what was not copied is not read.
  uint64_t arguments[GMT_UP_ARGS] = {};
  std::copy_n(record.words, record.args, arguments);
  for (uint32_t i = 0; i < shape.outs; i++)
    arguments[shape.out[i]] = i < record.outs ? reinterpret_cast<uintptr_t>(&record.words[record.args + i]) : 0;
  if (shape.copied_argument < GMT_UP_ARGS)
    arguments[shape.copied_argument] =
        record.copied >= shape.copied ? reinterpret_cast<uintptr_t>(&record.words[record.args + record.outs]) : 0;
  const cuda::Params params = cuda::lay_out(call, arguments);
  *out = cuda::read_call(call, params.bytes, after);
  return true;
}

}  // namespace gmt::uprobe
