#include "addon/allocator_replay.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "addon/questions/query_fields.h"
#include "addon/reader_object.h"
#include "model/allocator/replay.h"

namespace gmt::addon {
namespace {

constexpr uint32_t kMostAllocations = 1u << 28;

/// The calls as `AllocatorCalls` has them, in columns; empty: they are no calls, which was refused.
struct Calls {
  std::vector<model::AllocatorCall> calls;
  model::RecordedPlaces places;
};

template <typename Array>
std::optional<Array> column(const Napi::Object &object, const char *name, napi_typedarray_type type) {
  const Napi::Value value = object.Get(name);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) return std::nullopt;
  return value.As<Array>();
}

bool read_earlier(const Napi::Object &object, model::RecordedPlaces &places) {
  const auto address = column<Napi::Float64Array>(object, "address", napi_float64_array);
  const auto bytes = column<Napi::Float64Array>(object, "bytes", napi_float64_array);
  const auto pool = column<Napi::Uint32Array>(object, "pool", napi_uint32_array);
  const Napi::Value calls = object.Get("calls");
  if (!address || !bytes || !pool || !calls.IsNumber() || address->ElementLength() != bytes->ElementLength())
    return false;
  for (size_t at = 0; at < address->ElementLength(); ++at) {
    places.segments.push_back({static_cast<uint64_t>((*address)[at]), static_cast<uint64_t>((*bytes)[at]),
                               at < pool->ElementLength() ? (*pool)[at] : 0});
  }
  places.earlier_calls = calls.As<Napi::Number>().Uint32Value();
  return true;
}

std::optional<Calls> read_calls(const Napi::CallbackInfo &info) {
  if (info.Length() < 2 || !info[0].IsObject() || !info[1].IsObject()) return std::nullopt;
  const auto object = info[0].As<Napi::Object>();
  const auto allocation = column<Napi::Uint32Array>(object, "allocation", napi_uint32_array);
  const auto bytes = column<Napi::Float64Array>(object, "bytes", napi_float64_array);
  const auto pool = column<Napi::Uint32Array>(object, "pool", napi_uint32_array);
  const auto address = column<Napi::Float64Array>(object, "address", napi_float64_array);
  if (!allocation || !bytes || !pool || !address || allocation->ElementLength() != bytes->ElementLength())
    return std::nullopt;
  Calls out;
  out.calls.reserve(bytes->ElementLength());
  for (size_t at = 0; at < bytes->ElementLength(); ++at) {
    const double size = (*bytes)[at];
    const uint32_t number = (*allocation)[at];
    if (number >= kMostAllocations) return std::nullopt;
    const auto kind = size > 0    ? model::AllocatorCall::kAllocate
                      : size == 0 ? model::AllocatorCall::kFree
                                  : model::AllocatorCall::kEmptyCache;
    out.calls.push_back({kind, number, static_cast<uint64_t>(std::max(size, 0.0)),
                         number < pool->ElementLength() ? (*pool)[number] : 0});
  }
  for (size_t at = 0; at < address->ElementLength(); ++at)
    out.places.addresses.push_back(static_cast<uint64_t>((*address)[at]));
  if (object.Get("earlier").IsObject() && !read_earlier(object.Get("earlier").As<Napi::Object>(), out.places))
    return std::nullopt;
  return out;
}

std::optional<model::AllocatorSettings> read_settings(const Napi::CallbackInfo &info) {
  Fields fields(info, 1);
  model::AllocatorSettings settings;
  const auto bytes = [&](const char *name, uint64_t otherwise) { return fields.whole(name, otherwise); };
  settings.expandable_segments = info[1].As<Napi::Object>().Get("expandableSegments").ToBoolean();
  settings.max_split_bytes = bytes("maxSplitBytes", settings.max_split_bytes);
  settings.max_unsplit_rounding_bytes = bytes("maxUnsplitRoundingBytes", settings.max_unsplit_rounding_bytes);
  settings.roundup_power2_divisions = static_cast<uint32_t>(bytes("roundupPower2Divisions", 0));
  settings.garbage_collection_threshold = fields.number("garbageCollectionThreshold", 0);
  settings.limit_bytes = bytes("limitBytes", settings.limit_bytes);
  settings.address_space_bytes = bytes("addressSpaceBytes", settings.address_space_bytes);
  if (!fields.ok()) return std::nullopt;
  return settings;
}

}  // namespace

Napi::Value replay_allocator(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  const auto calls = read_calls(info);
  if (!calls) return refuse(env, "replayAllocator() needs calls in columns, and settings.");
  const auto settings = read_settings(info);
  if (!settings) return env.Undefined();
  const model::Replay found = model::replay(calls->calls, *settings, calls->places);
  auto reserved = Napi::Float64Array::New(env, found.reserved_bytes.size());
  for (size_t at = 0; at < found.reserved_bytes.size(); ++at)
    reserved[at] = static_cast<double>(found.reserved_bytes[at]);
  auto out = Napi::Object::New(env);
  out.Set("reservedBytes", reserved);
  out.Set("reservedPeakBytes", static_cast<double>(found.reserved_peak_bytes));
  out.Set("allocatedPeakBytes", static_cast<double>(found.allocated_peak_bytes));
  out.Set("allocatedPeakCall", static_cast<double>(found.allocated_peak_call));
  out.Set("retries", static_cast<double>(found.retries));
  out.Set("failedCall", found.failed_call ? Napi::Value(Napi::Number::New(env, static_cast<double>(*found.failed_call)))
                                          : env.Null());
  return out;
}

Napi::Value find_pools(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  auto calls = read_calls(info);
  if (!calls) return refuse(env, "findPools() needs calls in columns, and settings.");
  const auto settings = read_settings(info);
  if (!settings) return env.Undefined();
  for (const model::AllocatorCall &call : calls->calls) {
    if (call.kind != model::AllocatorCall::kEmptyCache && call.allocation >= calls->places.addresses.size())
      return refuse(env, "findPools() needs the address of each allocation.");
  }
  const uint64_t unexplained = model::find_pools(calls->calls, *settings, calls->places);
  auto pools = Napi::Uint32Array::New(env, calls->places.addresses.size());
  std::fill_n(pools.Data(), pools.ElementLength(), 0);
  auto exact = Napi::Uint8Array::New(env, calls->places.addresses.size());
  std::fill_n(exact.Data(), exact.ElementLength(), 0);
  for (const model::AllocatorCall &call : calls->calls) {
    if (call.kind != model::AllocatorCall::kAllocate) continue;
    pools[call.allocation] = call.pool;
    exact[call.allocation] = call.exact;
  }
  auto segments = Napi::Uint32Array::New(env, calls->places.segments.size());
  for (size_t at = 0; at < segments.ElementLength(); ++at) segments[at] = calls->places.segments[at].pool;
  auto out = Napi::Object::New(env);
  out.Set("pool", pools);
  out.Set("exact", exact);
  out.Set("segmentPool", segments);
  out.Set("unexplained", static_cast<double>(unexplained));
  return out;
}

}  // namespace gmt::addon
