// What the tracer believes of CUDA's structs and ids, against the toolkit's own headers. Checked while it is compiled; without
// a toolkit the program says so and is counted as skipped.
#include <cstdio>

#if GMT_HAS_CUDA_HEADERS
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>

// The parameter structs also of calls that cuda.h no longer shows; of these nothing is looked at.
using CUdeviceptr_v1 = unsigned;
struct CUDA_ARRAY_DESCRIPTOR_v1;
struct CUDA_ARRAY3D_DESCRIPTOR_v1;
struct CUDA_MEMCPY2D_v1;
struct CUDA_MEMCPY3D_v1;
#include <generated_cuda_meta.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "check.h"
#include "cuda/cupti.h"
#include "cuda/driver_calls.h"
#include "simulator/driver/driver_types.h"

using namespace gmt;

#define SAME(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), #theirs)
#define SAME_PLACE(type, ours, real, theirs) SAME(offsetof(type, ours), offsetof(real, theirs))

SAME(sizeof(cuda::CallbackData), sizeof(CUpti_CallbackData));
SAME_PLACE(cuda::CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(cuda::CallbackData, function_name, CUpti_CallbackData, functionName);
SAME_PLACE(cuda::CallbackData, params, CUpti_CallbackData, functionParams);
SAME_PLACE(cuda::CallbackData, return_value, CUpti_CallbackData, functionReturnValue);
SAME_PLACE(cuda::CallbackData, symbol_name, CUpti_CallbackData, symbolName);
SAME_PLACE(cuda::CallbackData, context, CUpti_CallbackData, context);
SAME_PLACE(cuda::CallbackData, context_uid, CUpti_CallbackData, contextUid);
SAME_PLACE(cuda::CallbackData, correlation_data, CUpti_CallbackData, correlationData);
SAME_PLACE(cuda::CallbackData, correlation_id, CUpti_CallbackData, correlationId);
SAME_PLACE(cuda::ResourceData, context, CUpti_ResourceData, context);
SAME_PLACE(cuda::ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(sizeof(cuda::ResourceData), sizeof(CUpti_ResourceData));
SAME_PLACE(cuda::SubscriberParams, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);
SAME(sizeof(cuda::Subscriber), sizeof(CUpti_SubscriberHandle));
SAME(cuda::kCuptiInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME(cuda::kCuptiInvalidContext, CUPTI_ERROR_INVALID_CONTEXT);
SAME(cuda::kCuptiOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME(cuda::kCuptiNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME(cuda::kCuptiMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(cuda::kDomainDriver, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(cuda::kDomainRuntime, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(cuda::kDomainResource, CUPTI_CB_DOMAIN_RESOURCE);
static_assert(static_cast<int>(cuda::kDomainCount) >= static_cast<int>(CUPTI_CB_DOMAIN_SIZE));
SAME(cuda::kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(cuda::kContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(cuda::kSiteEnter, CUPTI_API_ENTER);
SAME(cuda::kSiteExit, CUPTI_API_EXIT);

#define X(name, cbid, ...) SAME(cbid, CUPTI_DRIVER_TRACE_CBID_##name);
GMT_CALLS(X)
#undef X

// Offsets that driver_calls.cpp reads at.
SAME(offsetof(CUDA_ARRAY_DESCRIPTOR, Width), 0);
SAME(offsetof(CUDA_ARRAY_DESCRIPTOR, Height), 8);
SAME(offsetof(CUDA_ARRAY_DESCRIPTOR, Format), 16);
SAME(offsetof(CUDA_ARRAY_DESCRIPTOR, NumChannels), 20);
SAME(offsetof(CUDA_ARRAY3D_DESCRIPTOR, Depth), 16);
SAME(offsetof(CUDA_ARRAY3D_DESCRIPTOR, Format), 24);
SAME(offsetof(CUDA_ARRAY3D_DESCRIPTOR, NumChannels), 28);
SAME(CU_AD_FORMAT_UNSIGNED_INT8, 0x01);
SAME(CU_AD_FORMAT_SIGNED_INT8, 0x08);
SAME(CU_AD_FORMAT_UNSIGNED_INT16, 0x02);
SAME(CU_AD_FORMAT_SIGNED_INT16, 0x09);
SAME(CU_AD_FORMAT_HALF, 0x10);
SAME(CU_AD_FORMAT_UNSIGNED_INT32, 0x03);
SAME(CU_AD_FORMAT_SIGNED_INT32, 0x0a);
SAME(CU_AD_FORMAT_FLOAT, 0x20);
SAME(offsetof(CUmemAllocationProp, location) + offsetof(CUmemLocation, type), 8);
SAME(offsetof(CUmemAllocationProp, location) + offsetof(CUmemLocation, id), 12);
SAME(CU_MEM_LOCATION_TYPE_DEVICE, 1);
SAME(offsetof(CUmemPoolProps, location) + offsetof(CUmemLocation, id), 12);
SAME(sizeof(CUmemPoolProps), 88);
SAME(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, poolProps), 0);
SAME(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize), 104);
SAME(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr), 112);
SAME(offsetof(CUgraphNodeParams, alloc), 16);
SAME(offsetof(CUgraphNodeParams, free), 16);
SAME(offsetof(CUDA_MEM_FREE_NODE_PARAMS, dptr), 0);
SAME(offsetof(decltype(CUgraphNodeParams::alloc), bytesize), 104);
SAME(offsetof(decltype(CUgraphNodeParams::alloc), dptr), 112);
SAME(CU_GRAPH_NODE_TYPE_MEM_ALLOC, 10);
SAME(CU_GRAPH_NODE_TYPE_MEM_FREE, 11);
SAME(offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size), 8);
SAME(sizeof(CUipcMemHandle), 64);
SAME(sizeof(CUdeviceptr), 8);
SAME(sizeof(CUmemGenericAllocationHandle), 8);

// Structs and codes of the simulated driver.
SAME(sizeof(sim::Location), sizeof(CUmemLocation));
SAME(sizeof(sim::AllocationProp), sizeof(CUmemAllocationProp));
SAME_PLACE(sim::AllocationProp, location, CUmemAllocationProp, location);
SAME(sizeof(sim::PoolProps), sizeof(CUmemPoolProps));
SAME_PLACE(sim::PoolProps, location, CUmemPoolProps, location);
SAME_PLACE(sim::PoolProps, max_size, CUmemPoolProps, maxSize);
SAME(sizeof(sim::ArrayDescriptor), sizeof(CUDA_ARRAY_DESCRIPTOR));
SAME_PLACE(sim::ArrayDescriptor, format, CUDA_ARRAY_DESCRIPTOR, Format);
SAME(sizeof(sim::Array3DDescriptor), sizeof(CUDA_ARRAY3D_DESCRIPTOR));
SAME_PLACE(sim::Array3DDescriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME(sizeof(sim::AllocNodeParams), sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
SAME_PLACE(sim::AllocNodeParams, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
SAME_PLACE(sim::AllocNodeParams, address, CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SAME(sizeof(sim::GraphNodeParams), sizeof(CUgraphNodeParams));
SAME_PLACE(sim::GraphNodeParams, alloc, CUgraphNodeParams, alloc);
SAME_PLACE(sim::GraphNodeParams, free_address, CUgraphNodeParams, free.dptr);
SAME(sizeof(sim::ExternalMemoryDesc), sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC));
SAME_PLACE(sim::ExternalMemoryDesc, bytes, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size);
SAME(sizeof(sim::ExternalBufferDesc), sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC));
SAME(sizeof(sim::IpcMemHandle), sizeof(CUipcMemHandle));
SAME(sizeof(sim::PoolPtrExportData), sizeof(CUmemPoolPtrExportData));
SAME(sim::SUCCESS, CUDA_SUCCESS);
#define X(name, code) SAME(code, CUDA_ERROR_##name);
SIM_ERRORS(X)
#undef X
SAME(sim::NODE_ALLOC, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
SAME(sim::NODE_FREE, CU_GRAPH_NODE_TYPE_MEM_FREE);
SAME(sim::LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);

namespace {

/// A call's parameter struct, each argument filled with what only it has.
template <class Params>
struct Filled {
  Params params;
  Filled() { std::memset(&params, 0, sizeof params); }
};

/// What `read_call` takes for address, bytes, stream, object of this call; `after` as in an input call.
cuda::CallFacts read(int call, const void *params) { return cuda::read_call(cuda::kCalls[call], params, false); }

template <class T>
T value(uint64_t number) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(number);
  else
    return static_cast<T>(number);
}

TEST(arguments_by_value_are_found) {
  Filled<cuMemFree_v2_params> release;
  release.params.dptr = 0x123456789a;
  CHECK_EQ(read(GMT_CALL_cuMemFree_v2, &release.params).address, 0x123456789aull);

  Filled<cuMemFreeAsync_params> async;
  async.params.dptr = 0x11;
  async.params.hStream = value<CUstream>(0x22);
  CHECK_EQ(read(GMT_CALL_cuMemFreeAsync, &async.params).address, 0x11u);
  CHECK_EQ(read(GMT_CALL_cuMemFreeAsync, &async.params).stream, 0x22u);

  Filled<cuMemMap_params> map;
  map.params.ptr = 1;
  map.params.size = 2;
  map.params.offset = 3;
  map.params.handle = 4;
  map.params.flags = 5;
  const auto mapped = read(GMT_CALL_cuMemMap, &map.params);
  CHECK(mapped.address == 1 && mapped.bytes == 2 && mapped.offset == 3 && mapped.object == 4);

  Filled<cuMemUnmap_params> unmap;
  unmap.params.ptr = 6;
  unmap.params.size = 7;
  CHECK(read(GMT_CALL_cuMemUnmap, &unmap.params).address == 6 && read(GMT_CALL_cuMemUnmap, &unmap.params).bytes == 7);

  Filled<cuMemHostRegister_v2_params> host;
  host.params.p = value<void *>(8);
  host.params.bytesize = 9;
  CHECK(read(GMT_CALL_cuMemHostRegister_v2, &host.params).bytes == 9);

  Filled<cuGraphAddMemFreeNode_params> node;
  node.params.dptr = 10;
  CHECK_EQ(read(GMT_CALL_cuGraphAddMemFreeNode, &node.params).address, 10u);

  Filled<cuDevicePrimaryCtxReset_v2_params> reset;
  reset.params.dev = 3;
  CHECK_EQ(read(GMT_CALL_cuDevicePrimaryCtxReset_v2, &reset.params).device, 3);
}

TEST(arguments_by_pointer_are_found) {
  CUdeviceptr address = 0xabc;
  Filled<cuMemAllocFromPoolAsync_params> pool;
  pool.params.dptr = &address;
  pool.params.bytesize = 500;
  pool.params.pool = value<CUmemoryPool>(0x66);
  pool.params.hStream = value<CUstream>(0x77);
  const auto facts = cuda::read_call(cuda::kCalls[GMT_CALL_cuMemAllocFromPoolAsync], &pool.params, true);
  CHECK(facts.address == 0xabc && facts.bytes == 500 && facts.object == 0x66 && facts.stream == 0x77);
  CHECK_EQ(read(GMT_CALL_cuMemAllocFromPoolAsync, &pool.params).address, 0u);

  size_t pitch = 1024;
  Filled<cuMemAllocPitch_v2_params> rows;
  rows.params.dptr = &address;
  rows.params.pPitch = &pitch;
  rows.params.WidthInBytes = 1000;
  rows.params.Height = 64;
  CHECK_EQ(cuda::read_call(cuda::kCalls[GMT_CALL_cuMemAllocPitch_v2], &rows.params, true).bytes, 65536u);
  CHECK_EQ(read(GMT_CALL_cuMemAllocPitch_v2, &rows.params).bytes, 64000u);
}

TEST(structs_are_read) {
  CUmemAllocationProp prop{};
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {5}};
  Filled<cuMemCreate_params> create;
  create.params.size = 4096;
  create.params.prop = &prop;
  CHECK_EQ(read(GMT_CALL_cuMemCreate, &create.params).device, 5);
  CHECK_EQ(read(GMT_CALL_cuMemCreate, &create.params).bytes, 4096u);
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  CHECK_EQ(read(GMT_CALL_cuMemCreate, &create.params).device, static_cast<int32_t>(GMT_DEVICE_NONE));

  CUDA_ARRAY3D_DESCRIPTOR volume{};
  volume.Width = 64, volume.Height = 32, volume.Depth = 4, volume.Format = CU_AD_FORMAT_HALF, volume.NumChannels = 2;
  Filled<cuArray3DCreate_v2_params> array;
  array.params.pAllocateArray = &volume;
  CHECK_EQ(read(GMT_CALL_cuArray3DCreate_v2, &array.params).bytes, 64u * 32 * 4 * 4);
  Filled<cuMipmappedArrayCreate_params> levels;
  levels.params.pMipmappedArrayDesc = &volume;
  levels.params.numMipmapLevels = 2;
  CHECK_EQ(read(GMT_CALL_cuMipmappedArrayCreate, &levels.params).bytes, (64u * 32 * 4 + 32 * 16 * 2) * 4);

  CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
  buffer.offset = 1, buffer.size = 777;
  Filled<cuExternalMemoryGetMappedBuffer_params> external;
  external.params.bufferDesc = &buffer;
  CHECK_EQ(read(GMT_CALL_cuExternalMemoryGetMappedBuffer, &external.params).bytes, 777u);
}

TEST(graph_nodes_are_read) {
  CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
  alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {2}};
  alloc.bytesize = 999;
  alloc.dptr = 0x5000;
  Filled<cuGraphAddMemAllocNode_params> old;
  old.params.nodeParams = &alloc;
  const auto facts = cuda::read_call(cuda::kCalls[GMT_CALL_cuGraphAddMemAllocNode], &old.params, true);
  CHECK(facts.address == 0x5000 && facts.bytes == 999 && facts.device == 2);

  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  params.free.dptr = 0x6000;
  Filled<cuGraphAddNode_params> node;
  node.params.nodeParams = &params;
  CHECK_EQ(read(GMT_CALL_cuGraphAddNode, &node.params).kind, static_cast<uint8_t>(GMT_GRAPH_FREE));
  CHECK_EQ(read(GMT_CALL_cuGraphAddNode, &node.params).address, 0x6000u);
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  CHECK_EQ(read(GMT_CALL_cuGraphAddNode, &node.params).kind, 0u);
  Filled<cuGraphAddNode_v2_params> newer;
  params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  params.alloc.bytesize = 123;
  newer.params.nodeParams = &params;
  CHECK_EQ(read(GMT_CALL_cuGraphAddNode_v2, &newer.params).bytes, 123u);
}

}  // namespace

TEST_MAIN
#else
int main() {
  std::puts("skipped: no CUDA 13 toolkit with CUPTI headers here to compare with");
  return 77;
}
#endif
