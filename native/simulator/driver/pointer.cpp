// What the driver knows about an address.
#include "simulator/trace.h"

using namespace sim;

namespace {

enum Attribute {
  CONTEXT = 1,
  MEMORY_TYPE,
  DEVICE_POINTER,
  HOST_POINTER,
  BUFFER_ID = 7,
  IS_MANAGED,
  DEVICE_ORDINAL,
  RANGE_START = 11,
  RANGE_SIZE,
  MAPPED,
  MEMPOOL_HANDLE = 17,
};
enum { TYPE_HOST = 1, TYPE_DEVICE = 2 };

/// One answer for all kinds of memory.
struct Known {
  uint64_t address, bytes, id;
  int device;
  bool host, managed;
  Context *context;
  Pool *pool;
};

bool look_up(CUdeviceptr address, Known &known) {
  known = {};
  if (Allocation *a = state.allocations.containing(address)) {
    known = {a->address, a->bytes, a->id, a->device, false, a->kind == Allocation::MANAGED, a->context, a->pool};
  } else if (Mapping *m = state.mappings.containing(address)) {
    known = {m->address, m->bytes, m->physical->address, m->physical->device, false, false, nullptr, nullptr};
  } else if (HostRange *h = state.host.containing(address)) {
    known = {h->address, h->bytes, h->address, h->context->device, true, false, h->context, nullptr};
  } else {
    return false;
  }
  return true;
}

template <class T>
CUresult tell(void *data, T value) {
  *static_cast<T *>(data) = value;
  return SUCCESS;
}

CUresult answer(const Known &known, int attribute, CUdeviceptr address, void *data) {
  switch (attribute) {
    case CONTEXT:
      return tell(data, known.context);
    case MEMORY_TYPE:
      return tell<unsigned>(data, known.host ? TYPE_HOST : TYPE_DEVICE);
    case DEVICE_POINTER:
      return tell(data, address);
    case HOST_POINTER:
      return known.host || known.managed ? tell(data, address) : INVALID_VALUE;
    case BUFFER_ID:
      return tell(data, known.id);
    case IS_MANAGED:
      return tell<unsigned>(data, known.managed);
    case DEVICE_ORDINAL:
      return tell(data, known.device);
    case RANGE_START:
      return tell(data, known.address);
    case RANGE_SIZE:
      return tell(data, known.bytes);
    case MAPPED:
      return tell<unsigned>(data, 1);
    case MEMPOOL_HANDLE:
      return tell(data, known.pool);
    default:
      return NOT_SUPPORTED;
  }
}

}  // namespace

SIM_EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr address) {
  return checked("cuPointerGetAttribute", [&] {
    if (!data) return INVALID_VALUE;
    Lock lock;
    Known known;
    return look_up(address, known) ? answer(known, attribute, address, data) : INVALID_VALUE;
  });
}

SIM_EXPORT CUresult cuPointerGetAttributes(unsigned count, const int *attributes, void **data, CUdeviceptr address) {
  return checked("cuPointerGetAttributes", [&] {
    if (!attributes || !data) return INVALID_VALUE;
    Lock lock;
    Known known;
    // An unknown pointer is no error here; its attributes are null.
    bool found = look_up(address, known);
    for (unsigned i = 0; i < count; ++i) {
      if (found) {
        answer(known, attributes[i], address, data[i]);
      } else {
        memset(data[i], 0, sizeof(unsigned));
      }
    }
    return SUCCESS;
  });
}

SIM_EXPORT CUresult cuPointerSetAttribute(const void *, int, CUdeviceptr) {
  return checked("cuPointerSetAttribute", [] { return SUCCESS; });
}
