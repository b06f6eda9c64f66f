// Stream-ordered allocations and memory pools. A freed block is free at once: the simulator has no work that
// could still use it.
#include <unistd.h>

#include "simulator/trace.h"

using namespace sim;

namespace {

Pool *find_pool(Handle handle) {
  Pool *pool = find_object<Pool>(handle, Object::POOL);
  return pool && !pool->destroyed ? pool : nullptr;
}

CUresult allocate_async(CUdeviceptr *address, size_t bytes, Handle handle, bool own_pool, CUstream stream) {
  if (!address || bytes == 0) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  if (!valid_stream(stream)) return INVALID_HANDLE;
  Pool *pool = own_pool ? find_pool(handle) : state.devices[context->device].current_pool;
  if (!pool || pool->imported) return INVALID_VALUE;
  if (!allocation_allowed()) return OUT_OF_MEMORY;
  if (Graph *graph = captured_graph(stream)) return allocate_in_graph(graph, context, bytes, address);
  return allocate(Allocation::ASYNC, context, pool->device, pool, bytes, pool->device >= 0, address);
}

CUresult free_async(CUdeviceptr address, CUstream stream) {
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  if (!valid_stream(stream)) return INVALID_HANDLE;
  Allocation *allocation = state.allocations.find(address);
  if (!allocation || allocation->kind == Allocation::IPC) return INVALID_VALUE;
  if (captured_graph(stream)) return allocation->kind == Allocation::GRAPH ? SUCCESS : INVALID_VALUE;
  release(allocation);
  return SUCCESS;
}

}  // namespace

SIM_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
  return traced(SIM_CALL(cuMemAllocAsync), Params{address, bytes, stream},
                [&] { return allocate_async(address, bytes, nullptr, false, stream); });
}
SIM_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream) {
  return traced(SIM_CALL(cuMemAllocAsync_ptsz), Params{address, bytes, stream},
                [&] { return allocate_async(address, bytes, nullptr, false, stream); });
}
SIM_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, Handle pool, CUstream stream) {
  return traced(SIM_CALL(cuMemAllocFromPoolAsync), Params{address, bytes, pool, stream},
                [&] { return allocate_async(address, bytes, pool, true, stream); });
}
SIM_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *address, size_t bytes, Handle pool, CUstream stream) {
  return traced(SIM_CALL(cuMemAllocFromPoolAsync_ptsz), Params{address, bytes, pool, stream},
                [&] { return allocate_async(address, bytes, pool, true, stream); });
}
SIM_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return traced(SIM_CALL(cuMemFreeAsync), Params{address, stream}, [&] { return free_async(address, stream); });
}
SIM_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return traced(SIM_CALL(cuMemFreeAsync_ptsz), Params{address, stream}, [&] { return free_async(address, stream); });
}

SIM_EXPORT CUresult cuMemPoolCreate(Handle *pool, const PoolProps *props) {
  return traced(SIM_CALL(cuMemPoolCreate), Params{pool, props}, [&] {
    if (!pool || !props || props->alloc_type != 1) return INVALID_VALUE;
    bool on_device = props->location.type == LOCATION_DEVICE;
    if (on_device && !valid_device(props->location.id)) return INVALID_DEVICE;
    Lock lock;
    Pool *created = create_object<Pool>(Object::POOL);
    created->device = on_device ? props->location.id : -1;
    *pool = created;
    return SUCCESS;
  });
}

SIM_EXPORT CUresult cuMemPoolDestroy(Handle handle) {
  return traced(SIM_CALL(cuMemPoolDestroy), Params{handle}, [&] {
    Lock lock;
    Pool *pool = find_pool(handle);
    if (!pool || (pool->device >= 0 && state.devices[pool->device].default_pool == pool)) return INVALID_VALUE;
    if (pool->device >= 0 && state.devices[pool->device].current_pool == pool) {
      state.devices[pool->device].current_pool = state.devices[pool->device].default_pool;
    }
    pool->destroyed = pool->used > 0;
    if (!pool->destroyed) {
      pool->small.clear();
      destroy_object(pool);
    }
    return SUCCESS;
  });
}

SIM_EXPORT CUresult cuMemPoolTrimTo(Handle handle, size_t keep) {
  return traced(SIM_CALL(cuMemPoolTrimTo), Params{handle, keep}, [&] {
    Lock lock;
    return find_pool(handle) ? SUCCESS : INVALID_VALUE;
  });
}

namespace {

enum PoolAttribute { RELEASE_THRESHOLD = 4, RESERVED_CURRENT, RESERVED_HIGH, USED_CURRENT, USED_HIGH };

CUresult get_attribute(const Pool &pool, int attribute, void *value) {
  if (attribute < 1 || attribute > USED_HIGH) return INVALID_VALUE;
  if (attribute < RELEASE_THRESHOLD) {
    *static_cast<int *>(value) = 1;
    return SUCCESS;
  }
  const uint64_t bytes[] = {pool.released_at, round_up(pool.used, 32 * MIB), round_up(pool.used_high, 32 * MIB),
                            pool.used, pool.used_high};
  *static_cast<uint64_t *>(value) = bytes[attribute - RELEASE_THRESHOLD];
  return SUCCESS;
}

}  // namespace

SIM_EXPORT CUresult cuMemPoolGetAttribute(Handle handle, int attribute, void *value) {
  return locked("cuMemPoolGetAttribute", [&] {
    Pool *pool = find_pool(handle);
    return pool && value ? get_attribute(*pool, attribute, value) : INVALID_VALUE;
  });
}

SIM_EXPORT CUresult cuMemPoolSetAttribute(Handle handle, int attribute, void *value) {
  return locked("cuMemPoolSetAttribute", [&] {
    Pool *pool = find_pool(handle);
    if (!pool || !value || attribute < 1 || attribute > USED_HIGH) return INVALID_VALUE;
    if (attribute == RELEASE_THRESHOLD) pool->released_at = *static_cast<uint64_t *>(value);
    if (attribute == RESERVED_HIGH || attribute == USED_HIGH) pool->used_high = pool->used;
    return SUCCESS;
  });
}

SIM_EXPORT CUresult cuMemPoolSetAccess(Handle handle, const void *access, size_t count) {
  return locked("cuMemPoolSetAccess", [&] { return find_pool(handle) && access && count ? SUCCESS : INVALID_VALUE; });
}

namespace {

CUresult device_pool(const char *name, Handle *pool, CUdevice device, bool current) {
  return checked(name, [&] {
    if (!pool) return INVALID_VALUE;
    if (!valid_device(device)) return INVALID_DEVICE;
    Lock lock;
    *pool = current ? state.devices[device].current_pool : state.devices[device].default_pool;
    return SUCCESS;
  });
}

}  // namespace

SIM_EXPORT CUresult cuDeviceGetDefaultMemPool(Handle *pool, CUdevice device) {
  return device_pool("cuDeviceGetDefaultMemPool", pool, device, false);
}
SIM_EXPORT CUresult cuDeviceGetMemPool(Handle *pool, CUdevice device) {
  return device_pool("cuDeviceGetMemPool", pool, device, true);
}
SIM_EXPORT CUresult cuDeviceSetMemPool(CUdevice device, Handle handle) {
  return checked("cuDeviceSetMemPool", [&] {
    if (!valid_device(device)) return INVALID_DEVICE;
    Lock lock;
    Pool *pool = find_pool(handle);
    if (!pool || pool->device != device) return INVALID_VALUE;
    state.devices[device].current_pool = pool;
    return SUCCESS;
  });
}
