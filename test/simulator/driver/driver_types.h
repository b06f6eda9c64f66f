#pragma once
// The CUDA driver's types as far as the simulator reads them (cuda.h of CUDA 13.0). The project builds without
// a CUDA toolkit; test/native/inject/cupti_layout_test.cpp compares every layout with the real header where there is one.
#include <cstddef>
#include <cstdint>

namespace sim {

using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUstream = void *;
using Handle = void *;  ///< an opaque pointer type of the driver: array, pool, graph, node, event, module, ...

/// CUresult, as far as the simulator returns it: CUDA_ERROR_<name> and its number.
#define SIM_ERRORS(X)                    \
  X(INVALID_VALUE, 1)                    \
  X(OUT_OF_MEMORY, 2)                    \
  X(NOT_INITIALIZED, 3)                  \
  X(NO_DEVICE, 100)                      \
  X(INVALID_DEVICE, 101)                 \
  X(INVALID_CONTEXT, 201)                \
  X(INVALID_HANDLE, 400)                 \
  X(NOT_FOUND, 500)                      \
  X(CONTEXT_IS_DESTROYED, 709)           \
  X(HOST_MEMORY_ALREADY_REGISTERED, 712) \
  X(HOST_MEMORY_NOT_REGISTERED, 713)     \
  X(NOT_SUPPORTED, 801)

#define X(name, code) name = code,
enum CUresult : int { SUCCESS = 0, SIM_ERRORS(X) };
#undef X

enum LocationType { LOCATION_DEVICE = 1, LOCATION_HOST = 2, LOCATION_HOST_NUMA = 3 };

struct Location {
  int type;
  int id;
};

struct AllocationProp {
  int type;
  int handle_types;
  Location location;
  void *win32_meta;
  struct {
    uint8_t compression, rdma;
    uint16_t usage;
    uint8_t reserved[4];
  } flags;
};

struct PoolProps {
  int alloc_type;
  int handle_types;
  Location location;
  void *win32_attributes;
  size_t max_size;
  uint16_t usage;
  uint8_t reserved[54];
};

struct ArrayDescriptor {
  size_t width, height;
  int format;
  unsigned channels;
};

struct Array3DDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct AllocNodeParams {
  PoolProps pool;
  const void *access;
  size_t access_count;
  size_t bytes;
  CUdeviceptr address;
};

enum NodeType { NODE_ALLOC = 10, NODE_FREE = 11 };

struct GraphNodeParams {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    AllocNodeParams alloc;
    CUdeviceptr free_address;
  };
  long long reserved2;
};

struct ExternalMemoryDesc {
  int type;
  union {
    int fd;
    struct {
      void *handle;
      const void *name;
    } win32;
  } handle;
  unsigned long long bytes;
  unsigned flags;
  unsigned reserved[16];
};

struct ExternalBufferDesc {
  unsigned long long offset, bytes;
  unsigned flags;
  unsigned reserved[16];
};

struct IpcMemHandle {
  char bytes[64];
};

struct PoolPtrExportData {
  unsigned char bytes[64];
};

}  // namespace sim

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))
