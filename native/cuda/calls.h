#pragma once
// Every CUDA driver call that gives or takes memory, as one table: the CUPTI side, the uprobe loader, the
// simulator and the reader use these rows. A row's place is its id in traces (gmt_driver_detail.call):
// append, never insert or reorder.
//
// Callback ids: cupti_driver_cbid.h. Arguments: generated_cuda_meta.h (CUDA 13.0). `_ptsz` twins are the same
// call with the per-thread default stream; they are functions and callback ids of their own.
//
//   X(name, cbid, kind, args, address, bytes, stream, object, source, since)
//   args     one letter per argument: p = 8 bytes (pointer, handle, size, address), u = 4 bytes (unsigned,
//   CUdevice, enum) address  index of the argument with the address or handle, -1 = none; for an allocation
//   it points at the result bytes    index of the argument with the size, -1 = none or found by `source`
//   stream   index of the stream argument, -1 = none
//   object   index of the argument with the pool (or, for cuMemMap, the physical handle), -1 = none
//   source   how address, bytes and device are read: enum gmt_call_source
//   since    first CUDA version with the call, as cuDriverGetVersion counts
#include <stdint.h>

#include "../wire/layout.h"

enum gmt_call_source {
  GMT_SOURCE_OUT,              ///< *argument[address] after the call; bytes by value
  GMT_SOURCE_IN,               ///< argument[address] before the call
  GMT_SOURCE_PITCH,            ///< bytes = *argument[1] * argument[3]
  GMT_SOURCE_ARRAY,            ///< descriptor in argument[1]: CUDA_ARRAY_DESCRIPTOR
  GMT_SOURCE_ARRAY_3D,         ///< descriptor in argument[1]: CUDA_ARRAY3D_DESCRIPTOR
  GMT_SOURCE_MIPMAPPED,        ///< as ARRAY_3D, and argument[2] levels
  GMT_SOURCE_CREATE,           ///< device from CUmemAllocationProp in argument[2]
  GMT_SOURCE_ALLOC_NODE,       ///< CUDA_MEM_ALLOC_NODE_PARAMS in argument[4]
  GMT_SOURCE_NODE,             ///< CUgraphNodeParams in the last argument: only types 10 (alloc) and 11 (free) count
  GMT_SOURCE_BUFFER_DESC,      ///< CUDA_EXTERNAL_MEMORY_BUFFER_DESC in argument[2]
  GMT_SOURCE_MAPPED,           ///< *argument[address], *argument[bytes] after the call
  GMT_SOURCE_DEVICE,           ///< argument[0] is a CUdevice
  GMT_SOURCE_CONTEXT,          ///< argument[0] is a CUcontext
  GMT_SOURCE_RELEASE_PRIMARY,  ///< argument[0] is a CUdevice; frees all only when the last reference goes
};

// clang-format off
#define GMT_CALLS(X) \
  X(cuMemAlloc_v2,                 243, GMT_DEVICE_ALLOC,     "pp",     0,  1, -1, -1, GMT_SOURCE_OUT,         3020) \
  X(cuMemAllocPitch_v2,            244, GMT_DEVICE_ALLOC,     "ppppu",  0, -1, -1, -1, GMT_SOURCE_PITCH,       3020) \
  X(cuMemAllocManaged,             371, GMT_MANAGED_ALLOC,    "ppu",    0,  1, -1, -1, GMT_SOURCE_OUT,         6000) \
  X(cuMemFree_v2,                  245, GMT_FREE,             "p",      0, -1, -1, -1, GMT_SOURCE_IN,          3020) \
  X(cuMemAllocAsync,               598, GMT_ASYNC_ALLOC,      "ppp",    0,  1,  2, -1, GMT_SOURCE_OUT,        11020) \
  X(cuMemAllocAsync_ptsz,          599, GMT_ASYNC_ALLOC,      "ppp",    0,  1,  2, -1, GMT_SOURCE_OUT,        11020) \
  X(cuMemAllocFromPoolAsync,       611, GMT_ASYNC_ALLOC,      "pppp",   0,  1,  3,  2, GMT_SOURCE_OUT,        11020) \
  X(cuMemAllocFromPoolAsync_ptsz,  612, GMT_ASYNC_ALLOC,      "pppp",   0,  1,  3,  2, GMT_SOURCE_OUT,        11020) \
  X(cuMemFreeAsync,                600, GMT_FREE,             "pp",     0, -1,  1, -1, GMT_SOURCE_IN,         11020) \
  X(cuMemFreeAsync_ptsz,           601, GMT_FREE,             "pp",     0, -1,  1, -1, GMT_SOURCE_IN,         11020) \
  X(cuMemCreate,                   549, GMT_PHYSICAL_CREATE,  "pppp",   0,  1, -1, -1, GMT_SOURCE_CREATE,     10020) \
  X(cuMemRelease,                  550, GMT_PHYSICAL_RELEASE, "p",      0, -1, -1, -1, GMT_SOURCE_IN,         10020) \
  X(cuMemMap,                      551, GMT_MAP,              "ppppp",  0,  1, -1,  3, GMT_SOURCE_IN,         10020) \
  X(cuMemUnmap,                    552, GMT_UNMAP,            "pp",     0,  1, -1, -1, GMT_SOURCE_IN,         10020) \
  X(cuMemRetainAllocationHandle,   565, GMT_PHYSICAL_RETAIN,  "pp",     0, -1, -1, -1, GMT_SOURCE_OUT,        11000) \
  X(cuMemImportFromShareableHandle,555, GMT_IMPORT,           "ppu",    0, -1, -1, -1, GMT_SOURCE_OUT,        10020) \
  X(cuMemAddressReserve,           547, GMT_ADDRESS_RESERVE,  "ppppp",  0,  1, -1, -1, GMT_SOURCE_OUT,        10020) \
  X(cuMemAddressFree,              548, GMT_ADDRESS_FREE,     "pp",     0,  1, -1, -1, GMT_SOURCE_IN,         10020) \
  X(cuArrayCreate_v2,              272, GMT_ARRAY_ALLOC,      "pp",     0, -1, -1, -1, GMT_SOURCE_ARRAY,       3020) \
  X(cuArray3DCreate_v2,            274, GMT_ARRAY_ALLOC,      "pp",     0, -1, -1, -1, GMT_SOURCE_ARRAY_3D,    3020) \
  X(cuArrayDestroy,                 89, GMT_ARRAY_FREE,       "p",      0, -1, -1, -1, GMT_SOURCE_IN,          2000) \
  X(cuMipmappedArrayCreate,        347, GMT_ARRAY_ALLOC,      "ppu",    0, -1, -1, -1, GMT_SOURCE_MIPMAPPED,   5000) \
  X(cuMipmappedArrayDestroy,       349, GMT_ARRAY_FREE,       "p",      0, -1, -1, -1, GMT_SOURCE_IN,          5000) \
  X(cuMemPoolCreate,               607, GMT_POOL_CREATE,      "pp",     0, -1, -1, -1, GMT_SOURCE_OUT,        11020) \
  X(cuMemPoolDestroy,              608, GMT_POOL_DESTROY,     "p",      0, -1, -1, -1, GMT_SOURCE_IN,         11020) \
  X(cuMemPoolTrimTo,               602, GMT_POOL_TRIM,        "pp",     0,  1, -1, -1, GMT_SOURCE_IN,         11020) \
  X(cuMemPoolImportPointer,        616, GMT_IMPORT,           "ppp",    0, -1, -1,  1, GMT_SOURCE_OUT,        11020) \
  X(cuGraphAddMemAllocNode,        638, GMT_GRAPH_ALLOC,      "ppppp",  4, -1, -1, -1, GMT_SOURCE_ALLOC_NODE, 11040) \
  X(cuGraphAddMemFreeNode,         639, GMT_GRAPH_FREE,       "ppppp",  4, -1, -1, -1, GMT_SOURCE_IN,         11040) \
  X(cuGraphAddNode,                712, GMT_GRAPH_ALLOC,      "ppppp",  4, -1, -1, -1, GMT_SOURCE_NODE,       12020) \
  X(cuGraphAddNode_v2,             723, GMT_GRAPH_ALLOC,      "pppppp", 5, -1, -1, -1, GMT_SOURCE_NODE,       12030) \
  X(cuMemAllocHost_v2,             294, GMT_HOST_ALLOC,       "pp",     0,  1, -1, -1, GMT_SOURCE_OUT,         3020) \
  X(cuMemHostAlloc,                 39, GMT_HOST_ALLOC,       "ppu",    0,  1, -1, -1, GMT_SOURCE_OUT,         2020) \
  X(cuMemHostAlloc_v2,             271, GMT_HOST_ALLOC,       "ppu",    0,  1, -1, -1, GMT_SOURCE_OUT,         3020) \
  X(cuMemFreeHost,                  38, GMT_HOST_FREE,        "p",      0, -1, -1, -1, GMT_SOURCE_IN,          2000) \
  X(cuMemHostRegister_v2,          379, GMT_HOST_REGISTER,    "ppu",    0,  1, -1, -1, GMT_SOURCE_IN,          6050) \
  X(cuMemHostRegister,             301, GMT_HOST_REGISTER,    "ppu",    0,  1, -1, -1, GMT_SOURCE_IN,          4000) \
  X(cuMemHostUnregister,           302, GMT_HOST_UNREGISTER,  "p",      0, -1, -1, -1, GMT_SOURCE_IN,          4000) \
  X(cuIpcOpenMemHandle_v2,         567, GMT_IMPORT,           "pHu",    0, -1, -1, -1, GMT_SOURCE_OUT,        11000) \
  X(cuIpcOpenMemHandle,            329, GMT_IMPORT,           "pHu",    0, -1, -1, -1, GMT_SOURCE_OUT,         4010) \
  X(cuIpcCloseMemHandle,           330, GMT_IMPORT_CLOSE,     "p",      0, -1, -1, -1, GMT_SOURCE_IN,          4010) \
  X(cuExternalMemoryGetMappedBuffer,486,GMT_IMPORT,           "ppp",    0, -1, -1, -1, GMT_SOURCE_BUFFER_DESC,10000) \
  X(cuGraphicsResourceGetMappedPointer_v2,258,GMT_IMPORT,     "ppp",    0,  1, -1, -1, GMT_SOURCE_MAPPED,      3020) \
  X(cuCtxDestroy_v2,               322, GMT_CONTEXT_DESTROY,  "p",      0, -1, -1, -1, GMT_SOURCE_CONTEXT,     4000) \
  X(cuDevicePrimaryCtxReset_v2,    545, GMT_DEVICE_RESET,     "u",     -1, -1, -1, -1, GMT_SOURCE_DEVICE,     11000) \
  X(cuDevicePrimaryCtxRelease_v2,  544, GMT_DEVICE_RESET,     "u",     -1, -1, -1, -1, GMT_SOURCE_RELEASE_PRIMARY, 11000)
// clang-format on
// 'H' in args: a CUipcMemHandle, 64 bytes by value.

enum gmt_call_id {
#define X(name, cbid, kind, args, address, bytes, stream, object, source, since) GMT_CALL_##name,
  GMT_CALLS(X)
#undef X
      GMT_CALL_COUNT
};

struct gmt_call {
  const char *name;
  uint16_t cbid;
  uint8_t kind;    ///< enum gmt_kind
  uint8_t source;  ///< enum gmt_call_source
  const char *args;
  int8_t address, bytes, stream, object;
  uint16_t since;
};
