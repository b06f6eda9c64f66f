// Streams. Nothing runs on one; what is allocated on one that is captured belongs to a graph.
#include "simulator/trace.h"

using namespace sim;

namespace {

Stream *find_stream(CUstream stream) { return find_object<Stream>(stream, Object::STREAM); }

bool default_stream(CUstream stream) { return reinterpret_cast<uint64_t>(stream) <= 2; }

}  // namespace

bool sim::valid_stream(CUstream stream) { return default_stream(stream) || find_stream(stream); }

Graph *sim::captured_graph(CUstream handle) {
  Stream *stream = default_stream(handle) ? nullptr : find_stream(handle);
  return stream ? stream->capture : nullptr;
}

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

SIM_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, int) {
  return locked([&] {
    if (default_stream(handle)) return STREAM_CAPTURE_UNSUPPORTED;
    Stream *stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (stream->capture) return ILLEGAL_STATE;
    stream->capture = create_object<Graph>(Object::GRAPH);
    return SUCCESS;
  });
}
SIM_EXPORT CUresult cuStreamEndCapture(CUstream handle, Handle *graph) {
  return locked([&] {
    Stream *stream = find_stream(handle);
    if (!graph || !stream || !stream->capture) return ILLEGAL_STATE;
    *graph = stream->capture;
    stream->capture = nullptr;
    return SUCCESS;
  });
}
SIM_EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  return locked([&] {
    if (!status) return INVALID_VALUE;
    if (!valid_stream(stream)) return INVALID_HANDLE;
    *status = captured_graph(stream) ? 1 : 0;
    return SUCCESS;
  });
}
