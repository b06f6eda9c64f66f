// Modules and launches: accepted, and nothing runs.
#include "simulator/trace.h"

using namespace sim;

namespace {

CUresult load(const char *name, Handle *module, const void *image) {
  return checked(name, [&] {
    if (!module || !image) return INVALID_VALUE;
    Context *context;
    if (CUresult result = current_context(&context); result != SUCCESS) return result;
    Lock lock;
    *module = create_object<Object>(Object::MODULE);
    return SUCCESS;
  });
}

CUresult launch(CUstream stream) {
  Lock lock;
  return valid_stream(stream) ? SUCCESS : INVALID_HANDLE;
}

/// cuLaunchKernel_params.
struct LaunchParams {
  Handle function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CUstream stream;
  void **arguments, **extra;
};

}  // namespace

SIM_EXPORT CUresult cuModuleLoad(Handle *module, const char *path) { return load("cuModuleLoad", module, path); }
SIM_EXPORT CUresult cuModuleLoadData(Handle *module, const void *image) {
  return load("cuModuleLoadData", module, image);
}
SIM_EXPORT CUresult cuModuleLoadDataEx(Handle *module, const void *image, unsigned, int *, void **) {
  return load("cuModuleLoadDataEx", module, image);
}
SIM_EXPORT CUresult cuModuleLoadFatBinary(Handle *module, const void *image) {
  return load("cuModuleLoadFatBinary", module, image);
}
SIM_EXPORT CUresult cuModuleUnload(Handle handle) {
  return locked("cuModuleUnload", [&] { return destroy_handle(handle, Object::MODULE, INVALID_HANDLE); });
}
SIM_EXPORT CUresult cuModuleGetFunction(Handle *function, Handle module, const char *name) {
  return checked("cuModuleGetFunction", [&] {
    if (!function || !name) return INVALID_VALUE;
    Lock lock;
    if (!find_object<Object>(module, Object::MODULE)) return INVALID_HANDLE;
    *function = module;
    return SUCCESS;
  });
}

#define LAUNCH(name)                                                                                             \
  SIM_EXPORT CUresult name(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,           \
                           void **arguments, void **extra) {                                                     \
    LaunchParams params = {function, grid_x,       grid_y, grid_z,    block_x, block_y,                          \
                           block_z,  shared_bytes, stream, arguments, extra};                                    \
    return traced(SIM_CALL(name), params, [&] { return launch(stream); });                                       \
  }
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)

SIM_EXPORT CUresult cuLaunchHostFunc(CUstream, void (*function)(void *), void *data) {
  return checked("cuLaunchHostFunc", [&] {
    if (!function) return INVALID_VALUE;
    function(data);
    return SUCCESS;
  });
}
