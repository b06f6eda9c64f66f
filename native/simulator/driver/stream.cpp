// Streams and events. Nothing runs, so all work is always done.
#include <ctime>

#include "simulator/trace.h"

using namespace sim;

namespace {

struct Event : Object {
  double recorded_ms;
};

Stream *find_stream(CUstream stream) { return find_object<Stream>(stream, Object::STREAM); }

bool default_stream(CUstream stream) { return reinterpret_cast<uint64_t>(stream) <= 2; }

CUresult create_stream(CUstream *stream, unsigned flags, int priority) {
  if (!stream || flags > 1) return INVALID_VALUE;
  Context *context;
  if (CUresult result = current_context(&context); result != SUCCESS) return result;
  Lock lock;
  Stream *created = create_object<Stream>(Object::STREAM);
  created->context = context;
  created->flags = flags;
  created->priority = priority;
  *stream = created;
  return SUCCESS;
}

CUresult done(const char *name, CUstream stream) {
  return locked(name, [&] { return valid_stream(stream) ? SUCCESS : INVALID_HANDLE; });
}

CUresult begin_capture(CUstream handle) {
  return locked("cuStreamBeginCapture", [&] {
    if (default_stream(handle)) return STREAM_CAPTURE_UNSUPPORTED;
    Stream *stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (stream->capture) return ILLEGAL_STATE;
    stream->capture = create_object<Graph>(Object::GRAPH);
    return SUCCESS;
  });
}

CUresult end_capture(CUstream handle, Handle *graph) {
  return locked("cuStreamEndCapture", [&] {
    Stream *stream = find_stream(handle);
    if (!graph || !stream || !stream->capture) return ILLEGAL_STATE;
    *graph = stream->capture;
    stream->capture = nullptr;
    return SUCCESS;
  });
}

CUresult is_capturing(CUstream stream, int *status) {
  return locked("cuStreamIsCapturing", [&] {
    if (!status) return INVALID_VALUE;
    if (!valid_stream(stream)) return INVALID_HANDLE;
    *status = captured_graph(stream) ? 1 : 0;
    return SUCCESS;
  });
}

double now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Event *find_event(Handle handle) { return find_object<Event>(handle, Object::EVENT); }

CUresult record(Handle handle, CUstream stream) {
  return locked("cuEventRecord", [&] {
    Event *event = find_event(handle);
    if (!event || !valid_stream(stream)) return INVALID_HANDLE;
    event->recorded_ms = now_ms();
    return SUCCESS;
  });
}

CUresult event_done(const char *name, Handle event) {
  return locked(name, [&] { return find_event(event) ? SUCCESS : INVALID_HANDLE; });
}

}  // namespace

bool sim::valid_stream(CUstream stream) { return default_stream(stream) || find_stream(stream); }

Graph *sim::captured_graph(CUstream handle) {
  Stream *stream = default_stream(handle) ? nullptr : find_stream(handle);
  return stream ? stream->capture : nullptr;
}

SIM_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return checked("cuStreamCreate", [&] { return create_stream(stream, flags, 0); });
}
SIM_EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  return checked("cuStreamCreateWithPriority", [&] { return create_stream(stream, flags, priority); });
}
SIM_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  return locked("cuStreamDestroy_v2", [&] { return destroy_handle(handle, Object::STREAM, INVALID_HANDLE); });
}

// The per-thread twins differ only in what stream 0 means, and no stream here has work in it.
#define STREAM_TWINS(name, declaration, body) \
  SIM_EXPORT CUresult name declaration body SIM_EXPORT CUresult name##_ptsz declaration body

STREAM_TWINS(cuStreamQuery, (CUstream stream), { return done("cuStreamQuery", stream); })
STREAM_TWINS(cuStreamWaitEvent, (CUstream stream, Handle, unsigned), { return done("cuStreamWaitEvent", stream); })
STREAM_TWINS(cuStreamEndCapture, (CUstream stream, Handle *graph), { return end_capture(stream, graph); })
STREAM_TWINS(cuStreamIsCapturing, (CUstream stream, int *status), { return is_capturing(stream, status); })
STREAM_TWINS(cuStreamBeginCapture_v2, (CUstream stream, int), { return begin_capture(stream); })
STREAM_TWINS(cuEventRecord, (Handle event, CUstream stream), { return record(event, stream); })
STREAM_TWINS(cuEventRecordWithFlags, (Handle event, CUstream stream, unsigned), { return record(event, stream); })
STREAM_TWINS(cuStreamSynchronize, (CUstream stream), {
  return traced(SIM_CALL(cuStreamSynchronize), Params{stream}, [&] {
    Lock lock;
    return valid_stream(stream) ? SUCCESS : INVALID_HANDLE;
  });
})
STREAM_TWINS(cuStreamGetCtx, (CUstream handle, Handle *context), {
  return checked("cuStreamGetCtx", [&] {
    if (!context) return INVALID_VALUE;
    Context *found;
    CUresult result = current_context(&found);
    Lock lock;
    if (Stream *stream = find_stream(handle)) {
      found = stream->context;
    } else if (!default_stream(handle)) {
      return INVALID_HANDLE;
    } else if (result != SUCCESS) {
      return result;
    }
    *context = found;
    return SUCCESS;
  });
})

SIM_EXPORT CUresult cuEventCreate(Handle *event, unsigned) {
  return checked("cuEventCreate", [&] {
    if (!event) return INVALID_VALUE;
    Lock lock;
    *event = create_object<Event>(Object::EVENT);
    return SUCCESS;
  });
}
SIM_EXPORT CUresult cuEventDestroy_v2(Handle handle) {
  return locked("cuEventDestroy_v2", [&] { return destroy_handle(handle, Object::EVENT, INVALID_HANDLE); });
}
SIM_EXPORT CUresult cuEventQuery(Handle event) { return event_done("cuEventQuery", event); }
SIM_EXPORT CUresult cuEventSynchronize(Handle event) { return event_done("cuEventSynchronize", event); }

SIM_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, Handle start, Handle end) {
  return locked("cuEventElapsedTime", [&] {
    Event *first = find_event(start), *last = find_event(end);
    if (!milliseconds) return INVALID_VALUE;
    if (!first || !last || !first->recorded_ms || !last->recorded_ms) return INVALID_HANDLE;
    *milliseconds = static_cast<float>(last->recorded_ms - first->recorded_ms);
    return SUCCESS;
  });
}
SIM_EXPORT CUresult cuEventElapsedTime(float *milliseconds, Handle start, Handle end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
