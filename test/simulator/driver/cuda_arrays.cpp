// CUDA arrays: memory behind a handle instead of an address.
#include "simulator/trace.h"

using namespace sim;

namespace {

/// Bytes of one channel by CUarray_format; formats with their channels in the name count as 4 bytes.
unsigned format_bytes(int format) {
  if (format == 0x01 || format == 0x08) return 1;
  return format == 0x02 || format == 0x09 || format == 0x10 ? 2 : 4;
}

uint64_t array_bytes(const Array3DDescriptor &descriptor, unsigned levels) {
  uint64_t width = descriptor.width, height = descriptor.height, depth = descriptor.depth, bytes = 0;
  for (unsigned level = 0; level < levels; ++level) {
    uint64_t texels = width * (height ? height : 1) * (depth ? depth : 1);
    bytes += texels * descriptor.channels * format_bytes(descriptor.format);
    width = width > 1 ? width / 2 : 1;
    height = height > 1 ? height / 2 : height;
    depth = depth > 1 ? depth / 2 : depth;
  }
  return bytes;
}

CUresult create(Handle *handle, const Array3DDescriptor &descriptor, unsigned levels, Object::Type type) {
  constexpr uint64_t WIDEST = 1 << 20;
  bool channels = descriptor.channels == 1 || descriptor.channels == 2 || descriptor.channels == 4;
  bool extent =
      descriptor.width && descriptor.width <= WIDEST && descriptor.height <= WIDEST && descriptor.depth <= 16384;
  if (!handle || !channels || !extent || !levels || levels > 24) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  uint64_t bytes = array_bytes(descriptor, levels);
  Lock lock;
  if (!charge(context->device, bytes)) return OUT_OF_MEMORY;
  ArrayObject *array = create_object<ArrayObject>(type);
  array->device = context->device;
  array->context = context;
  array->charged = bytes;
  *handle = array;
  return SUCCESS;
}

CUresult destroy(Handle handle, Object::Type type) {
  Lock lock;
  ArrayObject *array = find_object<ArrayObject>(handle, type);
  if (!array) return INVALID_HANDLE;
  release_array(array);
  return SUCCESS;
}

}  // namespace

SIM_TRACED(cuArrayCreate_v2, (Handle * array, const ArrayDescriptor *descriptor), array, descriptor) {
  if (!descriptor) return INVALID_VALUE;
  Array3DDescriptor whole = {descriptor->width, descriptor->height, 0, descriptor->format, descriptor->channels, 0};
  return create(array, whole, 1, Object::ARRAY);
}

SIM_TRACED(cuArray3DCreate_v2, (Handle * array, const Array3DDescriptor *descriptor), array, descriptor) {
  return descriptor ? create(array, *descriptor, 1, Object::ARRAY) : INVALID_VALUE;
}

SIM_TRACED(cuArrayDestroy, (Handle array), array) { return destroy(array, Object::ARRAY); }

SIM_TRACED(cuMipmappedArrayCreate, (Handle * array, const Array3DDescriptor *descriptor, unsigned levels), array,
           descriptor, levels) {
  return descriptor ? create(array, *descriptor, levels, Object::MIPMAPPED) : INVALID_VALUE;
}

SIM_TRACED(cuMipmappedArrayDestroy, (Handle array), array) { return destroy(array, Object::MIPMAPPED); }
