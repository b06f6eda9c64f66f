// Compares driver_types.h with the real cuda.h. Compiles to nothing, and checks nothing without a CUDA toolkit.
#if __has_include(<cuda.h>)
#include <cuda.h>

#include "driver_types.h"
#if CUDA_VERSION >= 12030

#define SAME_SIZE(ours, theirs) static_assert(sizeof(sim::ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, field, theirs, real) \
  static_assert(offsetof(sim::ours, field) == offsetof(theirs, real), #theirs "." #real)

SAME_SIZE(Location, CUmemLocation);
SAME_SIZE(AllocationProp, CUmemAllocationProp);
SAME_PLACE(AllocationProp, location, CUmemAllocationProp, location);
SAME_SIZE(PoolProps, CUmemPoolProps);
SAME_PLACE(PoolProps, location, CUmemPoolProps, location);
SAME_PLACE(PoolProps, max_size, CUmemPoolProps, maxSize);
SAME_SIZE(ArrayDescriptor, CUDA_ARRAY_DESCRIPTOR);
SAME_PLACE(ArrayDescriptor, format, CUDA_ARRAY_DESCRIPTOR, Format);
SAME_SIZE(Array3DDescriptor, CUDA_ARRAY3D_DESCRIPTOR);
SAME_PLACE(Array3DDescriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME_SIZE(AllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME_PLACE(AllocNodeParams, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
SAME_PLACE(AllocNodeParams, address, CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SAME_SIZE(GraphNodeParams, CUgraphNodeParams);
SAME_PLACE(GraphNodeParams, alloc, CUgraphNodeParams, alloc);
SAME_PLACE(GraphNodeParams, free_address, CUgraphNodeParams, free.dptr);
SAME_SIZE(ExternalMemoryDesc, CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
SAME_PLACE(ExternalMemoryDesc, bytes, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size);
SAME_SIZE(ExternalBufferDesc, CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
SAME_SIZE(IpcMemHandle, CUipcMemHandle);
SAME_SIZE(PoolPtrExportData, CUmemPoolPtrExportData);

static_assert(static_cast<int>(sim::SUCCESS) == static_cast<int>(CUDA_SUCCESS));
#define X(name, code) static_assert(code == static_cast<int>(CUDA_ERROR_##name), #name);
SIM_ERRORS(X)
#undef X

static_assert(static_cast<int>(sim::NODE_ALLOC) == static_cast<int>(CU_GRAPH_NODE_TYPE_MEM_ALLOC));
static_assert(static_cast<int>(sim::NODE_FREE) == static_cast<int>(CU_GRAPH_NODE_TYPE_MEM_FREE));
static_assert(static_cast<int>(sim::LOCATION_DEVICE) == static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE));

#endif
#endif
