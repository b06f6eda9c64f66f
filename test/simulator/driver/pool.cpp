// Stream-ordered allocations and memory pools. A freed block is free at once: the simulator has no work that
// could still use it.

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
  Pool *pool = own_pool ? find_pool(handle) : state.devices[context->device].default_pool;
  if (!pool || pool->imported) return INVALID_VALUE;
  return allocate(Allocation::ASYNC, context, pool->device, pool, bytes, pool->device >= 0, address);
}

CUresult free_async(CUdeviceptr address, CUstream stream) {
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  if (!valid_stream(stream)) return INVALID_HANDLE;
  Allocation *allocation = state.allocations.find(address);
  if (!allocation || allocation->kind == Allocation::IPC) return INVALID_VALUE;
  release(allocation);
  return SUCCESS;
}

}  // namespace

SIM_TRACED(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream), address, bytes, stream) {
  return allocate_async(address, bytes, nullptr, false, stream);
}
SIM_TRACED(cuMemAllocAsync_ptsz, (CUdeviceptr * address, size_t bytes, CUstream stream), address, bytes, stream) {
  return allocate_async(address, bytes, nullptr, false, stream);
}
SIM_TRACED(cuMemAllocFromPoolAsync, (CUdeviceptr * address, size_t bytes, Handle pool, CUstream stream), address, bytes,
           pool, stream) {
  return allocate_async(address, bytes, pool, true, stream);
}
SIM_TRACED(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * address, size_t bytes, Handle pool, CUstream stream), address,
           bytes, pool, stream) {
  return allocate_async(address, bytes, pool, true, stream);
}
SIM_TRACED(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), address, stream) {
  return free_async(address, stream);
}
SIM_TRACED(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream), address, stream) {
  return free_async(address, stream);
}

SIM_TRACED(cuMemPoolCreate, (Handle * pool, const PoolProps *props), pool, props) {
  if (!pool || !props || props->alloc_type != 1) return INVALID_VALUE;
  bool on_device = props->location.type == LOCATION_DEVICE;
  if (on_device && !valid_device(props->location.id)) return INVALID_DEVICE;
  Lock lock;
  Pool *created = create_object<Pool>(Object::POOL);
  created->device = on_device ? props->location.id : -1;
  *pool = created;
  return SUCCESS;
}

SIM_TRACED(cuMemPoolDestroy, (Handle handle), handle) {
  Lock lock;
  Pool *pool = find_pool(handle);
  if (!pool || (pool->device >= 0 && state.devices[pool->device].default_pool == pool)) return INVALID_VALUE;
  pool->destroyed = pool->used > 0;
  if (!pool->destroyed) {
    pool->small.clear();
    destroy_object(pool);
  }
  return SUCCESS;
}

SIM_TRACED(cuMemPoolTrimTo, (Handle handle, size_t keep), handle, keep) {
  Lock lock;
  return find_pool(handle) ? SUCCESS : INVALID_VALUE;
}
