#include "cuda/driver_calls.h"

#include <string.h>

namespace gmt::cuda {

const gmt_call kCalls[GMT_CALL_COUNT] = {
#define X(name, cbid, kind, args, address, bytes, stream, object, source, since) \
  {#name, cbid, kind, source, args, address, bytes, stream, object, since},
    GMT_CALLS(X)
#undef X
};

namespace {

constexpr uint32_t kMaxCbid = 1024;
struct CbidTable {
  int16_t row[kMaxCbid];
};
constexpr CbidTable make_cbid_table() {
  CbidTable table{};
  for (auto &row : table.row) row = -1;
#define X(name, cbid, ...) table.row[cbid] = GMT_CALL_##name;
  GMT_CALLS(X)
#undef X
  return table;
}
constinit const CbidTable kByCbid = make_cbid_table();

/// Place of argument `index` in the parameter struct: C alignment of 8-byte, 4-byte and 64-byte (char array) members.
uint32_t argument_offset(const char *args, int index) {
  uint32_t offset = 0;
  for (int i = 0;; i++) {
    const uint32_t bytes = args[i] == 'u' ? 4 : args[i] == kIpcHandle ? 64 : 8;
    const uint32_t align = args[i] == kIpcHandle ? 1 : bytes;
    offset = (offset + align - 1) & ~(align - 1);
    if (i == index) return offset;
    offset += bytes;
  }
}

uint64_t argument(const gmt_call &call, const void *params, int index) {
  const char *at = static_cast<const char *>(params) + argument_offset(call.args, index);
  if (call.args[index] == 'u') {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
T member(uint64_t object, uint32_t offset) {
  T value{};
  if (object) memcpy(&value, reinterpret_cast<const char *>(object) + offset, sizeof value);
  return value;
}

/// CUarray_format: bits a channel. Compressed and packed formats are not counted here (0).
uint32_t format_bytes(uint32_t format) {
  switch (format) {
    case 0x01:
    case 0x08:
      return 1;
    case 0x02:
    case 0x09:
    case 0x10:
      return 2;
    case 0x03:
    case 0x0a:
    case 0x20:
      return 4;
    default:
      return 0;
  }
}

/// CUDA_ARRAY_DESCRIPTOR { size_t w, h; enum format; unsigned channels }, CUDA_ARRAY3D_DESCRIPTOR { size_t w, h, depth; ... }.
uint64_t array_bytes(uint64_t descriptor, bool three) {
  const auto dimension = [&](uint32_t i) {
    const auto n = member<uint64_t>(descriptor, i * 8);
    return n ? n : 1;
  };
  const uint32_t tail = three ? 24 : 16;
  return dimension(0) * dimension(1) * (three ? dimension(2) : 1) * format_bytes(member<uint32_t>(descriptor, tail)) *
         member<uint32_t>(descriptor, tail + 4);
}

/// Each level halves every side.
uint64_t mipmapped_bytes(uint64_t descriptor, uint32_t levels) {
  uint64_t side[3], total = 0;
  for (uint32_t i = 0; i < 3; i++) side[i] = member<uint64_t>(descriptor, i * 8);
  const uint64_t texel =
      static_cast<uint64_t>(format_bytes(member<uint32_t>(descriptor, 24))) * member<uint32_t>(descriptor, 28);
  for (uint32_t level = 0; level < levels && level < 32; level++) {
    uint64_t texels = 1;
    for (uint64_t s : side) texels *= s >> level ? s >> level : 1;
    total += texels * texel;
  }
  return total;
}

// CUDA_MEM_ALLOC_NODE_PARAMS: CUmemPoolProps 88 B { allocType, handleTypes, location { type, id }, ... }, accessDescs 8,
// accessDescCount 8, bytesize 8, dptr 8.
constexpr uint32_t kPoolLocationId = 12, kNodeBytes = 104, kNodeAddress = 112;
// CUgraphNodeParams: int type, 3 ints, union at 16; memory node types.
constexpr uint32_t kNodeUnion = 16, kTypeMemAlloc = 10, kTypeMemFree = 11;

void read_alloc_node(uint64_t params, bool after, CallFacts *out) {
  out->bytes = member<uint64_t>(params, kNodeBytes);
  out->device = member<int32_t>(params, kPoolLocationId);
  if (after) out->address = member<uint64_t>(params, kNodeAddress);
}

void read_node(uint64_t params, bool after, CallFacts *out) {
  const auto type = member<uint32_t>(params, 0);
  if (type == kTypeMemAlloc) return read_alloc_node(params + kNodeUnion, after, out);
  out->kind = type == kTypeMemFree ? static_cast<uint8_t>(GMT_GRAPH_FREE) : 0;
  if (type == kTypeMemFree) out->address = member<uint64_t>(params, kNodeUnion);
}

/// Sources other than plain in and out arguments.
void read_special(const gmt_call &call, const void *params, bool after, CallFacts *out) {
  const auto at = [&](int index) { return argument(call, params, index); };
  switch (call.source) {
    case GMT_SOURCE_PITCH:
      out->bytes = after ? member<uint64_t>(at(1), 0) * at(3) : at(2) * at(3);
      break;
    case GMT_SOURCE_ARRAY:
      out->bytes = array_bytes(at(1), false);
      break;
    case GMT_SOURCE_ARRAY_3D:
      out->bytes = array_bytes(at(1), true);
      break;
    case GMT_SOURCE_MIPMAPPED:
      out->bytes = mipmapped_bytes(at(1), static_cast<uint32_t>(at(2)));
      break;
    // CUmemAllocationProp { type, requestedHandleTypes, location { type, id }, ... }; location type 1 = device.
    case GMT_SOURCE_CREATE:
      out->device = member<uint32_t>(at(2), 8) == 1 ? member<int32_t>(at(2), 12) : GMT_DEVICE_NONE;
      break;
    case GMT_SOURCE_BUFFER_DESC:
      out->bytes = member<uint64_t>(at(2), 8);
      break;  // { offset, size, flags }
    case GMT_SOURCE_MAPPED:
      out->bytes = after ? member<uint64_t>(at(call.bytes), 0) : 0;
      break;
    case GMT_SOURCE_DEVICE:
    case GMT_SOURCE_RELEASE_PRIMARY:
      out->device = static_cast<int32_t>(at(0));
      break;
    default:
      break;
  }
}

}  // namespace

Params lay_out(const gmt_call &call, const uint64_t *arguments) {
  Params params{};
  for (int i = 0, used = 0; call.args[i]; i++) {
    if (call.args[i] == kIpcHandle) continue;
    memcpy(params.bytes + argument_offset(call.args, i), &arguments[used++], call.args[i] == 'u' ? 4 : 8);
  }
  return params;
}

int call_of_cbid(uint32_t cbid) { return cbid < kMaxCbid ? kByCbid.row[cbid] : -1; }

bool ends_memory(uint8_t kind) {
  constexpr uint8_t kEnds[] = {
      GMT_FREE,         GMT_ARRAY_FREE, GMT_HOST_FREE,    GMT_HOST_UNREGISTER, GMT_PHYSICAL_RELEASE,
      GMT_IMPORT_CLOSE, GMT_UNMAP,      GMT_ADDRESS_FREE, GMT_POOL_DESTROY};
  for (const uint8_t end : kEnds)
    if (kind == end) return true;
  return false;
}

CallFacts read_call(const gmt_call &call, const void *params, bool after) {
  CallFacts out;
  out.kind = call.kind;
  const bool by_value = call.source == GMT_SOURCE_IN || call.source == GMT_SOURCE_CONTEXT;
  if (call.source == GMT_SOURCE_ALLOC_NODE) {
    read_alloc_node(argument(call, params, call.address), after, &out);
    return out;
  }
  if (call.source == GMT_SOURCE_NODE) {
    read_node(argument(call, params, call.address), after, &out);
    return out;
  }
  if (call.address >= 0) {
    const uint64_t value = argument(call, params, call.address);
    out.address = by_value ? value : after ? member<uint64_t>(value, 0) : 0;
  }
  if (call.bytes >= 0) out.bytes = argument(call, params, call.bytes);
  if (call.stream >= 0) out.stream = argument(call, params, call.stream);
  if (call.object >= 0) out.object = argument(call, params, call.object);
  if (call.kind == GMT_MAP) out.offset = argument(call, params, 2);
  read_special(call, params, after, &out);
  return out;
}

}  // namespace gmt::cuda
