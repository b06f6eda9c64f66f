#pragma once
// The CUDA driver's types as far as the simulator reads them (cuda.h of CUDA 13.0). The project builds without
// a CUDA toolkit; driver_types_check.cpp compares every layout with the real header where there is one.
#include <cstddef>
#include <cstdint>

namespace sim {

using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUstream = void *;
using Handle = void *;  ///< an opaque pointer type of the driver: array, pool, graph, node, event, module, ...

/// CUresult, as far as the simulator returns it: CUDA_ERROR_<name>, its number and its text.
#define SIM_ERRORS(X)                                                                                   \
  X(INVALID_VALUE, 1, "invalid argument")                                                               \
  X(OUT_OF_MEMORY, 2, "out of memory")                                                                  \
  X(NOT_INITIALIZED, 3, "initialization error")                                                         \
  X(NO_DEVICE, 100, "no CUDA-capable device is detected")                                               \
  X(INVALID_DEVICE, 101, "invalid device ordinal")                                                      \
  X(INVALID_CONTEXT, 201, "invalid device context")                                                     \
  X(INVALID_GRAPHICS_CONTEXT, 219, "invalid OpenGL or DirectX context")                                 \
  X(INVALID_HANDLE, 400, "invalid resource handle")                                                     \
  X(ILLEGAL_STATE, 401, "the operation cannot be performed in the present state")                       \
  X(NOT_FOUND, 500, "named symbol not found")                                                           \
  X(PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled")                                 \
  X(PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled")                                   \
  X(CONTEXT_IS_DESTROYED, 709, "context is destroyed")                                                  \
  X(HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped") \
  X(HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region")       \
  X(NOT_SUPPORTED, 801, "operation not supported")                                                      \
  X(STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")                \
  X(UNKNOWN, 999, "unknown error")

#define X(name, code, text) name = code,
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
