#include "simulator_state.h"

#include <sys/mman.h>

namespace sim {

State state{};

bool charge(int device, uint64_t bytes) {
  if (device < 0) return true;
  uint64_t pages = round_up(bytes, PAGE);
  if (pages > state.settings.memory_bytes - state.devices[device].used) return false;
  state.devices[device].used += pages;
  return true;
}

void discharge(int device, uint64_t bytes) {
  if (device >= 0) state.devices[device].used -= round_up(bytes, PAGE);
}

namespace {

/// A place of at least a page for itself.
uint64_t take_pages(int device, uint64_t span, bool charged) {
  if (charged && !charge(device, span)) return 0;
  uint64_t address = state.space.take(span, PAGE);
  if (!address && charged) discharge(device, span);
  return address;
}

SmallPages &small_pages(int device, Pool *pool) { return pool ? pool->small : state.devices[device].small; }

uint64_t take_small(int device, Pool *pool, uint64_t span) {
  SmallPages &pages = small_pages(device, pool);
  if (uint64_t address = pages.take(span)) return address;
  uint64_t page = take_pages(device, PAGE, true);
  if (!page) return 0;
  pages.add(page);
  return pages.take(span);
}

void end_pool_if_unused(Pool *pool) {
  if (pool && pool->destroyed && pool->used == 0) {
    pool->small.clear();
    destroy_object(pool);
  }
}

bool shares_page(const Allocation &allocation) { return allocation.charged && allocation.span < PAGE; }

}  // namespace

CUresult allocate(Allocation::Kind kind, Context *context, int device, Pool *pool, uint64_t bytes, bool charged,
                  CUdeviceptr *address) {
  if (bytes > 4096 * GIB) return OUT_OF_MEMORY;
  bool small = charged && bytes < PAGE;
  uint64_t span = round_up(bytes, small ? SMALLEST : PAGE);
  uint64_t place = small ? take_small(device, pool, span) : take_pages(device, span, charged);
  if (!place) return OUT_OF_MEMORY;
  if (kind == Allocation::MANAGED) mprotect(reinterpret_cast<void *>(place), span, PROT_READ | PROT_WRITE);
  state.allocations.add({place, bytes, span, kind, charged, device, context, pool});
  if (pool) pool->used += span;
  *address = place;
  return SUCCESS;
}

void release(Allocation *allocation) {
  state.allocations.erase(allocation);
  if (allocation->pool) allocation->pool->used -= allocation->span;
  if (allocation->kind == Allocation::MANAGED) {
    mmap(reinterpret_cast<void *>(allocation->address), allocation->span, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  if (shares_page(*allocation)) {
    uint64_t page = small_pages(allocation->device, allocation->pool).give(allocation->address, allocation->span);
    if (page) {
      state.space.give(page, PAGE);
      discharge(allocation->device, PAGE);
    }
  } else {
    state.space.give(allocation->address, allocation->span);
    if (allocation->charged) discharge(allocation->device, allocation->span);
  }
  end_pool_if_unused(allocation->pool);
  free(allocation);
}

void unmap_mapping(Mapping *mapping) {
  Physical *physical = mapping->physical;
  state.mappings.erase(mapping);
  free(mapping);
  --physical->mappings;
  drop_if_unused(physical);
}

void drop_if_unused(Physical *physical) {
  if (physical->references || physical->mappings) return;
  if (!physical->imported) discharge(physical->device, physical->size);
  destroy_object(physical);
}

void release_host(HostRange *range) {
  state.host.erase(range);
  if (!range->registered) munmap(reinterpret_cast<void *>(range->address), range->bytes);
  free(range);
}

void release_array(ArrayObject *array) {
  discharge(array->device, array->charged);
  destroy_object(array);
}

namespace {

void release_physical_of(int device) {
  for (size_t i = state.mappings.size(); i-- > 0;) {
    if (state.mappings.at(i)->physical->device == device) unmap_mapping(state.mappings.at(i));
  }
  for (size_t i = state.objects.size(); i-- > 0;) {
    Physical *physical = find_object<Physical>(state.objects.at(i), Object::PHYSICAL);
    if (!physical || physical->device != device) continue;
    physical->references = 0;
    drop_if_unused(physical);
  }
}

}  // namespace

void release_all_of(Context *context, bool whole_device) {
  for (size_t i = state.allocations.size(); i-- > 0;) {
    Allocation *allocation = state.allocations.at(i);
    bool of_device = whole_device && allocation->pool && allocation->device == context->device;
    if (allocation->context == context || of_device) release(allocation);
  }
  for (size_t i = state.host.size(); i-- > 0;) {
    if (state.host.at(i)->context == context) release_host(state.host.at(i));
  }
  for (size_t i = state.objects.size(); i-- > 0;) {
    Object *object = state.objects.at(i);
    if (object->type == Object::STREAM && static_cast<Stream *>(object)->context == context) {
      destroy_object(static_cast<Stream *>(object));
    } else if (object->type == Object::ARRAY || object->type == Object::MIPMAPPED) {
      ArrayObject *array = static_cast<ArrayObject *>(object);
      if (array->context == context) release_array(array);
    }
  }
  if (whole_device) release_physical_of(context->device);
}

}  // namespace sim
