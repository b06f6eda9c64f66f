// Pinned host memory. It is real memory: programs write into it.
#include <sys/mman.h>

#include "simulator/trace.h"

using namespace sim;

namespace {

CUresult add_host(void *address, size_t bytes, bool registered, Context *context) {
  state.host.add({reinterpret_cast<uint64_t>(address), bytes, registered, context});
  return SUCCESS;
}

CUresult allocate_host(void **address, size_t bytes, unsigned flags) {
  if (!address || bytes == 0 || flags > 7) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  void *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return OUT_OF_MEMORY;
  *address = place;
  return add_host(place, bytes, false, context);
}

CUresult register_host(void *address, size_t bytes) {
  if (!address || bytes == 0) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  uint64_t start = reinterpret_cast<uint64_t>(address);
  HostRange *known = state.host.containing(start);
  if (known && !known->registered) return INVALID_VALUE;
  if (known || state.host.overlaps(start, bytes)) return HOST_MEMORY_ALREADY_REGISTERED;
  return add_host(address, bytes, true, context);
}

CUresult end_host(void *address, bool registered, CUresult unknown) {
  Lock lock;
  HostRange *range = state.host.find(reinterpret_cast<uint64_t>(address));
  if (!range || range->registered != registered) return unknown;
  release_host(range);
  return SUCCESS;
}

}  // namespace

SIM_TRACED(cuMemAllocHost_v2, (void **address, size_t bytes), address, bytes) {
  return allocate_host(address, bytes, 0);
}
SIM_TRACED(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags), address, bytes, flags) {
  return allocate_host(address, bytes, flags);
}
SIM_TRACED(cuMemHostAlloc_v2, (void **address, size_t bytes, unsigned flags), address, bytes, flags) {
  return allocate_host(address, bytes, flags);
}
SIM_TRACED(cuMemFreeHost, (void *address), address) { return end_host(address, false, INVALID_VALUE); }
SIM_TRACED(cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags), address, bytes, flags) {
  return register_host(address, bytes);
}
SIM_TRACED(cuMemHostRegister, (void *address, size_t bytes, unsigned flags), address, bytes, flags) {
  return register_host(address, bytes);
}
SIM_TRACED(cuMemHostUnregister, (void *address), address) {
  return end_host(address, true, HOST_MEMORY_NOT_REGISTERED);
}
