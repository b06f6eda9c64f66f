// Virtual memory management: physical handles, reserved addresses, and the mappings between them.
#include <sys/mman.h>
#include <unistd.h>

#include "simulator/trace.h"

using namespace sim;

namespace {

bool whole_pages(uint64_t value) { return value && value % PAGE == 0; }

/// What a shared file descriptor carries; read back by cuMemImportFromShareableHandle, in any process.
struct SharedPhysical {
  char magic[16];
  uint64_t bytes;
  AllocationProp prop;
};
constexpr char SHARED_MAGIC[16] = "gmt-sim-memory1";

CUresult create_physical(uint64_t *handle, uint64_t bytes, const AllocationProp &prop, bool imported) {
  bool on_device = prop.location.type == LOCATION_DEVICE;
  if (on_device && !valid_device(prop.location.id)) return INVALID_DEVICE;
  int device = on_device ? prop.location.id : -1;
  Lock lock;
  if (!imported && !charge(device, bytes)) return OUT_OF_MEMORY;
  Physical *physical = create_object<Physical>(Object::PHYSICAL);
  physical->device = device;
  physical->size = bytes;
  physical->references = 1;
  physical->imported = imported;
  physical->prop = prop;
  *handle = physical->address;
  return SUCCESS;
}

Physical *find_physical(uint64_t handle) {
  Physical *physical = find_object<Physical>(reinterpret_cast<void *>(handle), Object::PHYSICAL);
  return physical && physical->references ? physical : nullptr;
}

}  // namespace

SIM_TRACED(cuMemCreate, (uint64_t * handle, size_t bytes, const AllocationProp *prop, unsigned long long flags), handle,
           bytes, prop, flags) {
  bool valid = handle && prop && prop->type == 1 && prop->location.type >= LOCATION_DEVICE &&
               prop->location.type <= LOCATION_HOST_NUMA && whole_pages(bytes) && !flags;
  return valid ? create_physical(handle, bytes, *prop, false) : INVALID_VALUE;
}

SIM_TRACED(cuMemRelease, (uint64_t handle), handle) {
  Lock lock;
  Physical *physical = find_physical(handle);
  if (!physical) return INVALID_VALUE;
  --physical->references;
  drop_if_unused(physical);
  return SUCCESS;
}

SIM_TRACED(cuMemAddressReserve,
           (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wish, unsigned long long flags), address,
           bytes, alignment, wish, flags) {
  bool power = (alignment & (alignment - 1)) == 0;
  if (!address || !whole_pages(bytes) || !power || wish % PAGE || flags > 1) return INVALID_VALUE;
  Lock lock;
  uint64_t place = state.space.take(bytes, alignment < PAGE ? PAGE : alignment);
  if (!place) return OUT_OF_MEMORY;
  state.reservations.add({place, bytes});
  *address = place;
  return SUCCESS;
}

SIM_TRACED(cuMemAddressFree, (CUdeviceptr address, size_t bytes), address, bytes) {
  Lock lock;
  Reservation *reservation = state.reservations.find(address);
  if (!reservation || reservation->bytes != bytes || state.mappings.overlaps(address, bytes)) return INVALID_VALUE;
  state.reservations.erase(reservation);
  state.space.give(address, bytes);
  free(reservation);
  return SUCCESS;
}

SIM_TRACED(cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags),
           address, bytes, offset, handle, flags) {
  if (!whole_pages(bytes) || address % PAGE || offset || flags) return INVALID_VALUE;
  Lock lock;
  Physical *physical = find_physical(handle);
  Reservation *reservation = state.reservations.containing(address);
  if (!physical || bytes > physical->size || !reservation) return INVALID_VALUE;
  if (bytes > reservation->address + reservation->bytes - address) return INVALID_VALUE;
  if (state.mappings.overlaps(address, bytes)) return INVALID_VALUE;
  state.mappings.add({address, bytes, physical});
  ++physical->mappings;
  return SUCCESS;
}

SIM_TRACED(cuMemUnmap, (CUdeviceptr address, size_t bytes), address, bytes) {
  if (!whole_pages(bytes)) return INVALID_VALUE;
  Lock lock;
  Reservation *reservation = state.reservations.containing(address);
  if (!reservation || bytes > reservation->address + reservation->bytes - address) return INVALID_VALUE;
  // Whole mappings only. Pages without a mapping may be among them, or be all there is, as with a real driver.
  Mapping *before = state.mappings.containing(address), *behind = state.mappings.containing(address + bytes);
  bool cuts_first = before && before->address < address, cuts_last = behind && behind->address < address + bytes;
  if (cuts_first || cuts_last) return INVALID_VALUE;
  for (size_t first = state.mappings.lower_bound(address);
       first < state.mappings.size() && state.mappings.at(first)->address < address + bytes;) {
    unmap_mapping(state.mappings.at(first));
  }
  return SUCCESS;
}

SIM_TRACED(cuMemRetainAllocationHandle, (uint64_t * handle, void *address), handle, address) {
  if (!handle) return INVALID_VALUE;
  Lock lock;
  Mapping *mapping = state.mappings.containing(reinterpret_cast<uint64_t>(address));
  if (!mapping) return INVALID_VALUE;
  ++mapping->physical->references;
  *handle = mapping->physical->address;
  return SUCCESS;
}

SIM_DEFINE(checked, cuMemExportToShareableHandle, (void *shared, uint64_t handle, int type, unsigned long long flags),
           shared, handle, type, flags) {
  if (!shared || type != 1 || flags) return INVALID_VALUE;
  Lock lock;
  Physical *physical = find_physical(handle);
  if (!physical) return INVALID_VALUE;
  SharedPhysical content = {{}, physical->size, physical->prop};
  memcpy(content.magic, SHARED_MAGIC, sizeof content.magic);
  int file = memfd_create("gpu-memtrace-sim", MFD_CLOEXEC);
  if (file < 0 || write(file, &content, sizeof content) != sizeof content) return NOT_SUPPORTED;
  *static_cast<int *>(shared) = file;
  return SUCCESS;
}

SIM_TRACED(cuMemImportFromShareableHandle, (uint64_t * handle, void *shared, int type), handle, shared, type) {
  if (!handle || type != 1) return INVALID_VALUE;
  SharedPhysical content;
  int file = static_cast<int>(reinterpret_cast<intptr_t>(shared));
  if (pread(file, &content, sizeof content, 0) != sizeof content) return INVALID_VALUE;
  if (memcmp(content.magic, SHARED_MAGIC, sizeof content.magic) != 0) return INVALID_VALUE;
  return create_physical(handle, content.bytes, content.prop, true);
}
