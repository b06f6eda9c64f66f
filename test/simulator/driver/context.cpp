// Contexts: primary ones, own ones, and the stack of current ones that each thread has. Their streams, on which nothing runs.
#include "simulator/trace.h"

using namespace sim;

namespace {

constexpr uint32_t RESOURCE_CONTEXT_CREATED = 1, RESOURCE_CONTEXT_DESTROY_STARTING = 2;
constexpr int DEEPEST = 32;
__thread Context *stack[DEEPEST];
__thread int depth = 0;

Context *find_context(const void *handle) { return find_object<Context>(handle, Object::CONTEXT); }

void bring_to_life(Context *context, CUdevice device, unsigned flags) {
  context->device = device;
  context->flags = flags;
  context->uid = ++state.next_context_uid;
  context->alive = true;
}

/// Ends what a context owns; the handle stays known, so that its later use is an error and no crash.
void destroy(Context *context, bool whole_device) {
  raise_resource(RESOURCE_CONTEXT_DESTROY_STARTING, context);
  Lock lock;
  release_all_of(context, whole_device);
  context->alive = false;
}

int device_of(void *handle) {
  Lock lock;
  Context *context = find_context(handle);
  return context ? context->device : -1;
}

Stream *find_stream(CUstream stream) { return find_object<Stream>(stream, Object::STREAM); }

bool default_stream(CUstream stream) { return reinterpret_cast<uint64_t>(stream) <= 2; }

__attribute__((constructor)) void offer_hooks() { gpu_memtrace_simulator_hooks.context_device = device_of; }

}  // namespace

CUresult sim::current_context(Context **context) {
  if (depth == 0) return INVALID_CONTEXT;
  *context = stack[depth - 1];
  return (*context)->alive ? SUCCESS : CONTEXT_IS_DESTROYED;
}

SIM_TRACED(cuDevicePrimaryCtxRetain, (Handle * context, CUdevice device), context, device) {
  if (!context) return INVALID_VALUE;
  if (!valid_device(device)) return INVALID_DEVICE;
  bool created;
  Context *primary;
  {
    Lock lock;
    Context *&slot = state.devices[device].primary;
    if (!slot) {
      slot = create_object<Context>(Object::CONTEXT);
      slot->primary = true;
    }
    primary = slot;
    ++primary->references;
    created = !primary->alive;
    if (created) bring_to_life(primary, device, primary->flags);
  }
  if (created) raise_resource(RESOURCE_CONTEXT_CREATED, primary);
  *context = primary;
  return SUCCESS;
}

SIM_TRACED(cuDevicePrimaryCtxRelease_v2, (CUdevice device), device) {
  if (!valid_device(device)) return INVALID_DEVICE;
  Context *primary = state.devices[device].primary;
  bool last;
  {
    Lock lock;
    if (!primary || primary->references == 0) return INVALID_CONTEXT;
    last = --primary->references == 0 && primary->alive;
  }
  if (last) destroy(primary, true);
  return SUCCESS;
}

SIM_TRACED(cuDevicePrimaryCtxReset_v2, (CUdevice device), device) {
  if (!valid_device(device)) return INVALID_DEVICE;
  Context *primary = state.devices[device].primary;
  if (primary && primary->alive) destroy(primary, true);
  return SUCCESS;
}

SIM_DEFINE(checked, cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active), device, flags,
           active) {
  if (!flags || !active) return INVALID_VALUE;
  if (!valid_device(device)) return INVALID_DEVICE;
  Lock lock;
  Context *primary = state.devices[device].primary;
  *flags = primary ? primary->flags : 0;
  *active = primary && primary->alive;
  return SUCCESS;
}

SIM_TRACED(cuCtxCreate_v2, (Handle * context, unsigned flags, CUdevice device), context, flags, device) {
  if (!context) return INVALID_VALUE;
  if (!valid_device(device)) return INVALID_DEVICE;
  if (depth == DEEPEST) return OUT_OF_MEMORY;
  Context *created;
  {
    Lock lock;
    created = create_object<Context>(Object::CONTEXT);
    bring_to_life(created, device, flags);
  }
  stack[depth++] = created;
  raise_resource(RESOURCE_CONTEXT_CREATED, created);
  *context = created;
  return SUCCESS;
}

SIM_TRACED(cuCtxDestroy_v2, (Handle handle), handle) {
  Context *context;
  {
    Lock lock;
    context = find_context(handle);
    if (!context || context->primary) return INVALID_CONTEXT;
    if (!context->alive) return CONTEXT_IS_DESTROYED;
  }
  destroy(context, false);
  if (depth && stack[depth - 1] == context) --depth;
  return SUCCESS;
}

SIM_DEFINE(checked, cuCtxSetCurrent, (Handle handle), handle) {
  if (!handle) {
    if (depth) --depth;
    return SUCCESS;
  }
  Lock lock;
  Context *context = find_context(handle);
  if (!context) return INVALID_CONTEXT;
  if (depth == 0) ++depth;
  stack[depth - 1] = context;
  return SUCCESS;
}

SIM_DEFINE(checked, cuCtxGetCurrent, (Handle * context), context) {
  if (!context) return INVALID_VALUE;
  *context = depth ? stack[depth - 1] : nullptr;
  return SUCCESS;
}

SIM_DEFINE(checked, cuCtxGetDevice, (CUdevice * device), device) {
  if (!device) return INVALID_VALUE;
  Context *context;
  CUresult result = current_context(&context);
  if (result == SUCCESS) *device = context->device;
  return result;
}

bool sim::valid_stream(CUstream stream) { return default_stream(stream) || find_stream(stream); }

SIM_DEFINE(checked, cuStreamCreate, (CUstream * stream, unsigned flags), stream, flags) {
  if (!stream || flags > 1) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  Stream *created = create_object<Stream>(Object::STREAM);
  created->context = context;
  *stream = created;
  return SUCCESS;
}
