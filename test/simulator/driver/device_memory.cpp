// Device memory: cuMemAlloc and what belongs to it.
#include "simulator/trace.h"

using namespace sim;

namespace {

CUresult allocate_here(Allocation::Kind kind, CUdeviceptr *address, size_t bytes) {
  if (!address || bytes == 0) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  // Managed memory moves between host and device, so it may be larger than the device.
  bool charged = kind == Allocation::DEVICE;
  return allocate(kind, context, context->device, nullptr, bytes, charged, address);
}

CUresult free_here(CUdeviceptr address) {
  Context *context;
  CUresult result = current_context(&context);
  if (result != SUCCESS || address == 0) return result;  // freeing null does nothing
  Lock lock;
  Allocation *allocation = state.allocations.find(address);
  if (!allocation || allocation->kind == Allocation::IPC) return INVALID_VALUE;
  release(allocation);
  return SUCCESS;
}

}  // namespace

SIM_TRACED(cuMemGetInfo_v2, (size_t * available, size_t *total), available, total) {
  if (!available || !total) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  *total = state.settings.memory_bytes;
  *available = *total - state.devices[context->device].used;
  return SUCCESS;
}

SIM_TRACED(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), address, bytes) {
  return allocate_here(Allocation::DEVICE, address, bytes);
}

SIM_TRACED(cuMemAllocPitch_v2, (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned element),
           address, pitch, width, height, element) {
  if (!pitch || (element != 4 && element != 8 && element != 16)) return INVALID_VALUE;
  size_t row = round_up(width, SMALLEST), bytes;
  if (__builtin_mul_overflow(row, height, &bytes)) return INVALID_VALUE;
  CUresult result = allocate_here(Allocation::DEVICE, address, bytes);
  if (result == SUCCESS) *pitch = row;
  return result;
}

SIM_TRACED(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags), address, bytes, flags) {
  if (flags != 1 && flags != 2) return INVALID_VALUE;
  return allocate_here(Allocation::MANAGED, address, bytes);
}

SIM_TRACED(cuMemFree_v2, (CUdeviceptr address), address) { return free_here(address); }
