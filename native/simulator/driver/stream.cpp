// Streams. Nothing runs on one.
#include "simulator/trace.h"

using namespace sim;

namespace {

Stream *find_stream(CUstream stream) { return find_object<Stream>(stream, Object::STREAM); }

bool default_stream(CUstream stream) { return reinterpret_cast<uint64_t>(stream) <= 2; }

}  // namespace

bool sim::valid_stream(CUstream stream) { return default_stream(stream) || find_stream(stream); }

SIM_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return checked([&] {
    if (!stream || flags > 1) return INVALID_VALUE;
    Context *context;
    if (CUresult result = current_context(&context); result != SUCCESS) return result;
    Lock lock;
    Stream *created = create_object<Stream>(Object::STREAM);
    created->context = context;
    *stream = created;
    return SUCCESS;
  });
}
SIM_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  return locked([&] { return destroy_handle(handle, Object::STREAM, INVALID_HANDLE); });
}
