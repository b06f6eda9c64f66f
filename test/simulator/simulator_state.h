#pragma once
// Everything the simulated driver knows. All of it is guarded by one lock; nothing outside is called while it
// is held, so that a CUPTI callback may call the driver.
#include "simulator/driver/address_space.h"
#include "simulator/driver/driver_types.h"

namespace sim {

/// Anything with a handle. The handle is the object's own address.
struct Object {
  enum Type : uint32_t { CONTEXT, PHYSICAL, POOL, ARRAY, MIPMAPPED, STREAM, GRAPH, NODE, EXTERNAL, RESOURCE };
  uint64_t address;  ///< of this object, so that a Table can hold it
  uint64_t bytes;    ///< 1
  Type type;
};

struct Context : Object {
  int device;
  uint32_t uid;
  bool primary, alive;
  unsigned references, flags;
};

struct Pool : Object {
  int device;  ///< -1 = host
  bool imported;
  bool destroyed;  ///< by cuMemPoolDestroy; it ends with its last block
  uint64_t used;   ///< bytes
  SmallPages small;
};

struct Physical : Object {
  int device;  ///< -1 = host
  uint64_t size;
  unsigned references, mappings;
  bool imported;
  AllocationProp prop;
};

struct Graph : Object {
  Array<uint64_t> allocations;
};

struct Stream : Object {
  Context *context;
};

struct ArrayObject : Object {
  int device;
  Context *context;
  uint64_t charged;
};

struct External : Object {
  uint64_t size;
};

/// An address that a call gave out as device memory.
struct Allocation {
  enum Kind : uint8_t { DEVICE, MANAGED, ASYNC, GRAPH, IMPORTED, IPC };
  uint64_t address, bytes;  ///< bytes as asked for
  uint64_t span;            ///< bytes of address space
  Kind kind;
  bool charged;  ///< counts against the device's capacity
  int device;
  Context *context;
  Pool *pool;
};

struct Reservation {
  uint64_t address, bytes;
};

struct Mapping {
  uint64_t address, bytes;
  Physical *physical;
};

/// Pinned or registered host memory.
struct HostRange {
  uint64_t address, bytes;
  bool registered;
  Context *context;
};

struct Device {
  uint64_t used;  ///< bytes that are given out, by pages
  Context *primary;
  Pool *default_pool;
  SmallPages small;
};

/// What the environment asks of the simulator; read once, at cuInit. A value that makes no sense is told on
/// stderr in one line and replaced by the default.
struct Settings {
  int devices = 1;        ///< GPU_MEMTRACE_SIM_DEVICES, 0 to 64
  uint64_t memory_bytes;  ///< GPU_MEMTRACE_SIM_MEMORY, of each device
  const char *name;       ///< GPU_MEMTRACE_SIM_NAME
};

struct State {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  bool ready, forked;
  Settings settings;
  AddressSpace space;
  Device devices[64];
  Table<Object> objects;
  Table<Allocation> allocations;
  Table<Reservation> reservations;
  Table<Mapping> mappings;
  Table<HostRange> host;
  uint32_t next_context_uid;
};

extern State state;

struct Lock : Guard {
  Lock() : Guard(state.lock) {}
};

inline bool valid_device(CUdevice device) { return device >= 0 && device < state.settings.devices; }

/// A new object, zeroed, in the table of handles. The lock is held.
template <class T>
T *create_object(Object::Type type) {
  T *object = static_cast<T *>(calloc(1, sizeof(T)));
  if (!object) abort();
  object->address = reinterpret_cast<uint64_t>(object);
  object->bytes = 1;
  object->type = type;
  state.objects.insert(object);
  return object;
}

/// The object behind a handle, null if it is none of that type. The lock is held.
template <class T>
T *find_object(const void *handle, Object::Type type) {
  Object *object = state.objects.find(reinterpret_cast<uint64_t>(handle));
  return object && object->type == type ? static_cast<T *>(object) : nullptr;
}

template <class T>
void destroy_object(T *object) {
  state.objects.erase(object);
  free(object);
}

/// Destroys the object behind a handle that owns nothing else; `unknown` where it is none of that type. The lock is held.
inline CUresult destroy_handle(Handle handle, Object::Type type, CUresult unknown) {
  Object *object = find_object<Object>(handle, type);
  if (!object) return unknown;
  destroy_object(object);
  return SUCCESS;
}

/// Takes `bytes` (rounded up to pages) of a device's capacity; false when it is full. Device -1: no limit.
bool charge(int device, uint64_t bytes);
void discharge(int device, uint64_t bytes);

/// The calling thread's context; INVALID_CONTEXT when there is none, CONTEXT_IS_DESTROYED when it is gone.
CUresult current_context(Context **context);

/// Ends all that belongs to `context`; with `whole_device` also the device's physical memory and pools' blocks.
void release_all_of(Context *context, bool whole_device);

/// Gives out a device address. Small ones share pages. The lock is held.
CUresult allocate(Allocation::Kind kind, Context *context, int device, Pool *pool, uint64_t bytes, bool charged,
                  CUdeviceptr *address);
void release(Allocation *allocation);
void unmap_mapping(Mapping *mapping);
/// Gives a physical handle's bytes back when neither a reference nor a mapping is left.
void drop_if_unused(Physical *physical);
void release_host(HostRange *range);
void release_array(ArrayObject *array);

/// A stream of ours or one of the three default streams. The lock is held.
bool valid_stream(CUstream stream);

}  // namespace sim
