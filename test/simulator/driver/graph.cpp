// Graphs, as far as their memory nodes go.
#include "simulator/trace.h"

using namespace sim;

namespace {

Graph *find_graph(Handle graph) { return find_object<Graph>(graph, Object::GRAPH); }

CUresult add_alloc_node(Handle *node, Handle handle, AllocNodeParams *alloc) {
  if (!node || !alloc || alloc->bytes == 0) return INVALID_VALUE;
  Context *context;
  CUresult result = current_context(&context);
  if (result != SUCCESS) return result;
  Lock lock;
  Graph *graph = find_graph(handle);
  if (!graph || !valid_device(alloc->pool.location.id)) return INVALID_VALUE;
  // Not charged: graph memory exists while the graph runs.
  result = allocate(Allocation::GRAPH, context, context->device, nullptr, alloc->bytes, false, &alloc->address);
  if (result != SUCCESS) return result;
  graph->allocations.push(alloc->address);
  *node = create_object<Object>(Object::NODE);
  return SUCCESS;
}

CUresult add_free_node(Handle *node, Handle handle, CUdeviceptr address) {
  Lock lock;
  Graph *graph = find_graph(handle);
  Allocation *allocation = state.allocations.find(address);
  if (!node || !graph || !allocation || allocation->kind != Allocation::GRAPH) return INVALID_VALUE;
  *node = create_object<Object>(Object::NODE);
  return SUCCESS;
}

CUresult add_node(Handle *node, Handle graph, GraphNodeParams *params) {
  if (!node || !params) return INVALID_VALUE;
  if (params->type == NODE_ALLOC) return add_alloc_node(node, graph, &params->alloc);
  if (params->type == NODE_FREE) return add_free_node(node, graph, params->free_address);
  Lock lock;
  if (!find_graph(graph)) return INVALID_VALUE;
  *node = create_object<Object>(Object::NODE);
  return SUCCESS;
}

}  // namespace

SIM_DEFINE(checked, cuGraphCreate, (Handle * graph, unsigned flags), graph, flags) {
  if (!graph || flags) return INVALID_VALUE;
  Lock lock;
  *graph = create_object<Graph>(Object::GRAPH);
  return SUCCESS;
}

SIM_DEFINE(locked, cuGraphDestroy, (Handle handle), handle) {
  Graph *graph = find_graph(handle);
  if (!graph) return INVALID_VALUE;
  for (size_t i = 0; i < graph->allocations.size(); ++i) {
    Allocation *allocation = state.allocations.find(graph->allocations[i]);
    if (allocation && allocation->kind == Allocation::GRAPH) release(allocation);
  }
  graph->allocations.clear();
  destroy_object(graph);
  return SUCCESS;
}

SIM_TRACED(cuGraphAddMemAllocNode,
           (Handle * node, Handle graph, const Handle *after, size_t count, AllocNodeParams *alloc), node, graph, after,
           count, alloc) {
  return add_alloc_node(node, graph, alloc);
}

SIM_TRACED(cuGraphAddMemFreeNode, (Handle * node, Handle graph, const Handle *after, size_t count, CUdeviceptr address),
           node, graph, after, count, address) {
  return add_free_node(node, graph, address);
}

SIM_TRACED(cuGraphAddNode,
           (Handle * node, Handle graph, const Handle *after, size_t count, GraphNodeParams *node_params), node, graph,
           after, count, node_params) {
  return add_node(node, graph, node_params);
}

SIM_TRACED(cuGraphAddNode_v2,
           (Handle * node, Handle graph, const Handle *after, const void *edges, size_t count,
            GraphNodeParams *node_params),
           node, graph, after, edges, count, node_params) {
  return add_node(node, graph, node_params);
}
