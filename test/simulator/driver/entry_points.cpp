// cuGetProcAddress: a plain name and a CUDA version choose one of the versioned functions. The table holds the
// names of exported functions; a name that is not exported fails the link.
#include "simulator/trace.h"

using namespace sim;

namespace {

constexpr uint64_t PER_THREAD_STREAM = 2;  ///< CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
enum Status { FOUND = 0, NO_SUCH_SYMBOL = 1, VERSION_TOO_LOW = 2 };

struct Entry {
  const char *name;
  int since;  ///< first CUDA version with this function, as cuDriverGetVersion counts
  void (*function)(), (*per_thread)();
};

}  // namespace

// E: name, version suffix, since.  T: the same with a per-thread twin of the given suffix.
// clang-format off
#define ENTRY_POINTS(E, T)                                                                                          \
  E(cuInit, , 2000) E(cuDeviceGet, , 2000) E(cuDeviceGetCount, , 2000) E(cuDeviceGetName, , 2000)                   \
  E(cuDeviceGetUuid, , 9020) E(cuDeviceGetUuid, _v2, 11040) E(cuDeviceTotalMem, _v2, 3020)                          \
  E(cuDevicePrimaryCtxRetain, , 7000) E(cuDevicePrimaryCtxRelease, _v2, 11000)                                      \
  E(cuDevicePrimaryCtxReset, _v2, 11000) E(cuDevicePrimaryCtxGetState, , 7000) E(cuCtxCreate, _v2, 3020)            \
  E(cuCtxDestroy, _v2, 4000) E(cuCtxSetCurrent, , 4000) E(cuCtxGetCurrent, , 4000) E(cuCtxGetDevice, , 2000)        \
  E(cuMemGetInfo, _v2, 3020)                                                                                        \
  E(cuMemAlloc, _v2, 3020) E(cuMemAllocPitch, _v2, 3020) E(cuMemAllocManaged, , 6000) E(cuMemFree, _v2, 3020)       \
  T(cuMemAllocAsync, , _ptsz, 11020) T(cuMemAllocFromPoolAsync, , _ptsz, 11020) T(cuMemFreeAsync, , _ptsz, 11020)   \
  E(cuMemCreate, , 10020) E(cuMemRelease, , 10020) E(cuMemAddressReserve, , 10020) E(cuMemAddressFree, , 10020)     \
  E(cuMemMap, , 10020) E(cuMemUnmap, , 10020) E(cuMemRetainAllocationHandle, , 11000)                               \
  E(cuMemExportToShareableHandle, , 10020) E(cuMemImportFromShareableHandle, , 10020) E(cuMemPoolCreate, , 11020)   \
  E(cuMemPoolDestroy, , 11020) E(cuMemPoolTrimTo, , 11020) E(cuMemPoolExportToShareableHandle, , 11020)             \
  E(cuMemPoolImportFromShareableHandle, , 11020) E(cuMemPoolExportPointer, , 11020)                                 \
  E(cuMemPoolImportPointer, , 11020) E(cuArrayCreate, _v2, 3020) E(cuArray3DCreate, _v2, 3020)                      \
  E(cuArrayDestroy, , 2000) E(cuMipmappedArrayCreate, , 5000) E(cuMipmappedArrayDestroy, , 5000)                    \
  E(cuMemAllocHost, _v2, 3020) E(cuMemHostAlloc, , 2020) E(cuMemFreeHost, , 2000) E(cuMemHostRegister, , 4000)      \
  E(cuMemHostRegister, _v2, 6050) E(cuMemHostUnregister, , 4000) E(cuIpcGetMemHandle, , 4010)                       \
  E(cuIpcOpenMemHandle, , 4010) E(cuIpcOpenMemHandle, _v2, 11000) E(cuIpcCloseMemHandle, , 4010)                    \
  E(cuImportExternalMemory, , 10000) E(cuExternalMemoryGetMappedBuffer, , 10000)                                    \
  E(cuDestroyExternalMemory, , 10000) E(cuGraphicsGLRegisterBuffer, , 3000)                                         \
  E(cuGraphicsResourceGetMappedPointer, _v2, 3020) E(cuGraphicsUnregisterResource, , 3000)                          \
  E(cuGraphCreate, , 10000) E(cuGraphDestroy, , 10000) E(cuGraphAddMemAllocNode, , 11040)                           \
  E(cuGraphAddMemFreeNode, , 11040) E(cuGraphAddNode, , 12020) E(cuGraphAddNode, _v2, 12030)                        \
  E(cuStreamCreate, , 2000) E(cuGetProcAddress, , 11030) E(cuGetProcAddress, _v2, 12000)
// clang-format on

// The signatures differ and do not matter here: each is declared under another name that stands for the symbol.
extern "C" {
#define DECLARE(name, suffix, since) void entry_##name##suffix() asm(#name #suffix);
#define DECLARE_TWIN(name, suffix, twin, since) \
  DECLARE(name, suffix, since)                  \
  void entry_##name##suffix##twin() asm(#name #suffix #twin);
ENTRY_POINTS(DECLARE, DECLARE_TWIN)
#undef DECLARE
#undef DECLARE_TWIN
}

namespace {

const Entry ENTRIES[] = {
#define ROW(name, suffix, since) {#name, since, entry_##name##suffix, entry_##name##suffix},
#define ROW_TWIN(name, suffix, twin, since) {#name, since, entry_##name##suffix, entry_##name##suffix##twin},
    ENTRY_POINTS(ROW, ROW_TWIN)
#undef ROW
#undef ROW_TWIN
};

Status find(const char *name, int version, uint64_t flags, void **function) {
  Status status = NO_SUCH_SYMBOL;
  int best = 0;
  *function = nullptr;
  for (const Entry &entry : ENTRIES) {
    if (strcmp(entry.name, name) != 0) continue;
    if (entry.since > version) {
      if (status == NO_SUCH_SYMBOL) status = VERSION_TOO_LOW;
    } else if (entry.since >= best) {
      best = entry.since;
      status = FOUND;
      *function = reinterpret_cast<void *>(flags == PER_THREAD_STREAM ? entry.per_thread : entry.function);
    }
  }
  return status;
}

}  // namespace

SIM_EXPORT CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  if (!name || !function || flags > 2) return INVALID_VALUE;
  return find(name, version, flags, function) == FOUND ? SUCCESS : NOT_FOUND;
}

SIM_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
  if (!name || !function || flags > 2) return INVALID_VALUE;
  Status found = find(name, version, flags, function);
  if (status) *status = found;
  return SUCCESS;
}
