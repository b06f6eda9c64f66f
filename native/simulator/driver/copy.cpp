// Copies and fills. Device addresses have no memory behind them: what is read from one is zero, what is written
// to one is gone. Host and managed memory is real, and copied.
#include "simulator/trace.h"

using namespace sim;

namespace {

bool on_host(uint64_t address) {
  Lock lock;
  Allocation *allocation = state.allocations.containing(address);
  if (allocation) return allocation->kind == Allocation::MANAGED;
  return !state.reservations.containing(address);
}

CUresult copy(const char *name, uint64_t to, uint64_t from, size_t bytes) {
  return checked(name, [&] {
    Context *context;
    CUresult result = current_context(&context);
    if (result != SUCCESS || bytes == 0) return result;
    if (!to || !from) return INVALID_VALUE;
    if (!on_host(to)) return SUCCESS;
    if (on_host(from)) {
      memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    } else {
      memset(reinterpret_cast<void *>(to), 0, bytes);
    }
    return SUCCESS;
  });
}

template <class T>
CUresult fill(const char *name, uint64_t to, T value, size_t count) {
  return checked(name, [&] {
    Context *context;
    CUresult result = current_context(&context);
    if (result != SUCCESS || count == 0) return result;
    if (!to || to % sizeof(T)) return INVALID_VALUE;
    if (!on_host(to)) return SUCCESS;
    for (size_t i = 0; i < count; ++i) reinterpret_cast<T *>(to)[i] = value;
    return SUCCESS;
  });
}

CUresult nothing(const char *name) {
  return checked(name, [] {
    Context *context;
    return current_context(&context);
  });
}

}  // namespace

#define COPY(name, to_type, from_type)                                 \
  SIM_EXPORT CUresult name(to_type to, from_type from, size_t bytes) { \
    return copy(#name, (uint64_t)to, (uint64_t)from, bytes);           \
  }                                                                    \
  SIM_EXPORT CUresult name##_ptds(to_type to, from_type from, size_t bytes) { return name(to, from, bytes); }
#define COPY_ASYNC(name, to_type, from_type)                                                   \
  SIM_EXPORT CUresult name(to_type to, from_type from, size_t bytes, CUstream) {               \
    return copy(#name, (uint64_t)to, (uint64_t)from, bytes);                                   \
  }                                                                                            \
  SIM_EXPORT CUresult name##_ptsz(to_type to, from_type from, size_t bytes, CUstream stream) { \
    return name(to, from, bytes, stream);                                                      \
  }
COPY(cuMemcpy, CUdeviceptr, CUdeviceptr)
COPY(cuMemcpyHtoD_v2, CUdeviceptr, const void *)
COPY(cuMemcpyDtoH_v2, void *, CUdeviceptr)
COPY(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, CUdeviceptr)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr)

#define FILL(name, suffix, async, type)                                                  \
  SIM_EXPORT CUresult name##suffix(CUdeviceptr to, type value, size_t count) {           \
    return fill<type>(#name, to, value, count);                                          \
  }                                                                                      \
  SIM_EXPORT CUresult name##suffix##_ptds(CUdeviceptr to, type value, size_t count) {    \
    return fill<type>(#name, to, value, count);                                          \
  }                                                                                      \
  SIM_EXPORT CUresult async(CUdeviceptr to, type value, size_t count, CUstream) {        \
    return fill<type>(#async, to, value, count);                                         \
  }                                                                                      \
  SIM_EXPORT CUresult async##_ptsz(CUdeviceptr to, type value, size_t count, CUstream) { \
    return fill<type>(#async, to, value, count);                                         \
  }
FILL(cuMemsetD8, _v2, cuMemsetD8Async, unsigned char)
FILL(cuMemsetD16, _v2, cuMemsetD16Async, unsigned short)
FILL(cuMemsetD32, _v2, cuMemsetD32Async, unsigned)

SIM_EXPORT CUresult cuMemcpy2D_v2(const void *) { return nothing("cuMemcpy2D_v2"); }
SIM_EXPORT CUresult cuMemcpy2DAsync_v2(const void *, CUstream) { return nothing("cuMemcpy2DAsync_v2"); }
SIM_EXPORT CUresult cuMemcpy3D_v2(const void *) { return nothing("cuMemcpy3D_v2"); }
SIM_EXPORT CUresult cuMemcpy3DAsync_v2(const void *, CUstream) { return nothing("cuMemcpy3DAsync_v2"); }
SIM_EXPORT CUresult cuMemcpyPeer(CUdeviceptr, Handle, CUdeviceptr, Handle, size_t) { return nothing("cuMemcpyPeer"); }
SIM_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr, Handle, CUdeviceptr, Handle, size_t, CUstream) {
  return nothing("cuMemcpyPeerAsync");
}
SIM_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream) {
  return nothing("cuMemPrefetchAsync");
}
SIM_EXPORT CUresult cuMemAdvise(CUdeviceptr, size_t, int, CUdevice) { return nothing("cuMemAdvise"); }
