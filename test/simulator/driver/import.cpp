// Memory that someone else owns: IPC, pool pointers, external memory, graphics buffers. It takes addresses,
// and nothing of a device's capacity.
#include <fcntl.h>
#include <unistd.h>

#include "simulator/trace.h"

using namespace sim;

namespace {

/// What an IPC handle or an exported pool pointer carries.
struct Ticket {
  char magic[16];
  int32_t pid, device;
  uint64_t address, bytes;
};
static_assert(sizeof(Ticket) <= 64);
constexpr char MAGIC[16] = "gmt-sim-ticket1";

bool read_ticket(const void *bytes, Ticket &ticket) {
  memcpy(&ticket, bytes, sizeof ticket);
  return memcmp(ticket.magic, MAGIC, sizeof MAGIC) == 0 && valid_device(ticket.device);
}

CUresult write_ticket(void *place, CUdeviceptr address) {
  Lock lock;
  Allocation *allocation = state.allocations.containing(address);
  if (!place || !allocation) return INVALID_VALUE;
  Ticket ticket = {{}, getpid(), allocation->device, allocation->address, allocation->bytes};
  memcpy(ticket.magic, MAGIC, sizeof MAGIC);
  memset(place, 0, 64);
  memcpy(place, &ticket, sizeof ticket);
  return SUCCESS;
}

CUresult import(Allocation::Kind kind, Pool *pool, int device, uint64_t bytes, CUdeviceptr *address) {
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  return allocate(kind, context, device < 0 ? context->device : device, pool, bytes, false, address);
}

/// For who goes on without the lock: what follows takes it by itself.
template <class T>
T *find_now(Handle handle, Object::Type type) {
  Lock lock;
  return find_object<T>(handle, type);
}

CUresult open_ipc(CUdeviceptr *address, const IpcMemHandle &handle) {
  Ticket ticket;
  if (!address || !read_ticket(handle.bytes, ticket)) return INVALID_VALUE;
  if (ticket.pid == getpid()) return INVALID_CONTEXT;  // as a real driver: not in the exporting process
  return import(Allocation::IPC, nullptr, ticket.device, ticket.bytes, address);
}

}  // namespace

SIM_EXPORT CUresult cuIpcGetMemHandle(IpcMemHandle *handle, CUdeviceptr address) {
  return checked([&] { return write_ticket(handle, address); });
}
SIM_TRACED(cuIpcOpenMemHandle_v2, (CUdeviceptr * address, IpcMemHandle handle, unsigned flags), address, handle,
           flags) {
  return open_ipc(address, handle);
}
SIM_TRACED(cuIpcOpenMemHandle, (CUdeviceptr * address, IpcMemHandle handle, unsigned flags), address, handle, flags) {
  return open_ipc(address, handle);
}
SIM_TRACED(cuIpcCloseMemHandle, (CUdeviceptr address), address) {
  Lock lock;
  Allocation *allocation = state.allocations.find(address);
  if (!allocation || allocation->kind != Allocation::IPC) return INVALID_VALUE;
  release(allocation);
  return SUCCESS;
}

SIM_DEFINE(checked, cuMemPoolExportToShareableHandle, (void *shared, Handle pool, int type, unsigned long long flags),
           shared, pool, type, flags) {
  if (!shared || type != 1 || flags) return INVALID_VALUE;
  Lock lock;
  if (!find_object<Pool>(pool, Object::POOL)) return INVALID_VALUE;
  int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0) return NOT_SUPPORTED;
  *static_cast<int *>(shared) = file;
  return SUCCESS;
}
SIM_EXPORT CUresult cuMemPoolImportFromShareableHandle(Handle *pool, void *shared, int type, unsigned long long) {
  return checked([&] {
    if (!pool || type != 1) return INVALID_VALUE;
    if (fcntl(static_cast<int>(reinterpret_cast<intptr_t>(shared)), F_GETFD) < 0) return INVALID_VALUE;
    Lock lock;
    Pool *created = create_object<Pool>(Object::POOL);
    created->imported = true;
    *pool = created;
    return SUCCESS;
  });
}
SIM_EXPORT CUresult cuMemPoolExportPointer(PoolPtrExportData *data, CUdeviceptr address) {
  return checked([&] { return write_ticket(data, address); });
}
SIM_TRACED(cuMemPoolImportPointer, (CUdeviceptr * address, Handle pool, PoolPtrExportData *data), address, pool, data) {
  Ticket ticket;
  if (!address || !data || !read_ticket(data->bytes, ticket)) return INVALID_VALUE;
  Pool *found = find_now<Pool>(pool, Object::POOL);
  if (!found || !found->imported) return INVALID_VALUE;
  return import(Allocation::IMPORTED, found, ticket.device, ticket.bytes, address);
}

SIM_DEFINE(checked, cuImportExternalMemory, (Handle * memory, const ExternalMemoryDesc *descriptor), memory,
           descriptor) {
  constexpr int OPAQUE_FD = 1;
  if (!memory || !descriptor || descriptor->type != OPAQUE_FD || !descriptor->bytes) return INVALID_VALUE;
  if (close(descriptor->handle.fd) != 0) return INVALID_VALUE;  // the driver takes it over
  Lock lock;
  External *external = create_object<External>(Object::EXTERNAL);
  external->size = descriptor->bytes;
  *memory = external;
  return SUCCESS;
}
SIM_TRACED(cuExternalMemoryGetMappedBuffer,
           (CUdeviceptr * address, Handle memory, const ExternalBufferDesc *descriptor), address, memory, descriptor) {
  if (!address || !descriptor || !descriptor->bytes) return INVALID_VALUE;
  const External *external = find_now<External>(memory, Object::EXTERNAL);
  if (!external) return INVALID_HANDLE;
  if (descriptor->offset > external->size || descriptor->bytes > external->size - descriptor->offset)
    return INVALID_VALUE;
  return import(Allocation::IMPORTED, nullptr, -1, descriptor->bytes, address);
}
SIM_EXPORT CUresult cuDestroyExternalMemory(Handle memory) {
  return locked([&] { return destroy_handle(memory, Object::EXTERNAL, INVALID_HANDLE); });
}

namespace {

/// A graphics buffer; `size` is its bytes and `mapped` where the driver put it.
struct Resource : Object {
  uint64_t size;
  CUdeviceptr mapped;
};

}  // namespace

/// There is no OpenGL here: any buffer name is a buffer of 4 MiB.
SIM_EXPORT CUresult cuGraphicsGLRegisterBuffer(Handle *resource, unsigned, unsigned) {
  return checked([&] {
    if (!resource) return INVALID_VALUE;
    Lock lock;
    Resource *created = create_object<Resource>(Object::RESOURCE);
    created->size = 4 * MIB;
    *resource = created;
    return SUCCESS;
  });
}
SIM_TRACED(cuGraphicsResourceGetMappedPointer_v2, (CUdeviceptr * address, size_t *bytes, Handle handle), address, bytes,
           handle) {
  Resource *resource = find_now<Resource>(handle, Object::RESOURCE);
  if (!resource) return INVALID_HANDLE;
  if (!address || !bytes) return INVALID_VALUE;
  CUresult result =
      resource->mapped ? SUCCESS : import(Allocation::IPC, nullptr, -1, resource->size, &resource->mapped);
  *address = resource->mapped;
  *bytes = resource->size;
  return result;
}
SIM_DEFINE(locked, cuGraphicsUnregisterResource, (Handle handle), handle) {
  Resource *resource = find_object<Resource>(handle, Object::RESOURCE);
  if (!resource) return INVALID_HANDLE;
  Allocation *mapped = resource->mapped ? state.allocations.find(resource->mapped) : nullptr;
  if (mapped) release(mapped);
  destroy_object(resource);
  return SUCCESS;
}
