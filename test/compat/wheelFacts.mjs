// What the product relies on in PyTorch's libraries: names that they export or import, and where their objects keep things. A test
// holds that every name of native/inject and native/uprobe is here.
const REPORT = [
  '_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE',
  '_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE',
];
const OOM = [
  '_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE',
  '_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE',
];
const NUMBER = '_ZN2at15sequence_number17get_and_incrementEv';

/** What the facts are for. */
export const PARTS = {
  events: 'events',
  memory: 'out of memory',
  forward: 'forward lines',
  backward: 'backward lines',
  attached: 'backward lines, attached',
  workspaces: 'cuBLAS workspaces',
};

/** `any`: one of these has to be there; those that end in a star are begins. `imported`: as an import slot. */
export const NAMES = [
  { of: 'events', what: 'allocations and frees', library: 'libc10.so', any: REPORT },
  { of: 'events', what: 'allocations and frees, slot', library: 'libc10_cuda.so', any: REPORT, imported: true },
  { of: 'memory', what: 'out of memory', library: 'libc10.so', any: OOM },
  { of: 'memory', what: 'out of memory, slot', library: 'libc10_cuda.so', any: OOM, imported: true },
  { of: 'forward', what: 'numbers of nodes', library: 'libtorch_cpu.so', any: [NUMBER] },
  { of: 'forward', what: 'numbers of nodes, slot', library: 'libtorch_cpu.so', any: [NUMBER], imported: true },
  { of: 'forward', what: 'newest number', library: 'libtorch_cpu.so', any: ['_ZN2at15sequence_number4peekEv'] },
  {
    of: 'backward',
    what: 'node that runs',
    library: 'libtorch_cpu.so',
    any: ['_ZN5torch8autograd16get_current_nodeEv'],
  },
  { of: 'forward', what: 'threads', library: 'libtorch_cpu.so', any: ['_ZN2at14RecordFunction15currentThreadIdEv'] },
  { of: 'backward', what: 'class of nodes', library: 'libtorch_cpu.so', any: ['_ZTIN5torch8autograd4NodeE'] },
  {
    of: 'attached',
    what: 'nodes that begin',
    library: 'libtorch_cpu.so',
    any: ['_ZN5torch8autograd6Engine17evaluate_functionE*'],
  },
  {
    of: 'attached',
    what: 'engine',
    library: 'libtorch_cpu.so',
    any: ['_ZN5torch8autograd6Engine23execute_with_graph_taskE*'],
  },
  {
    of: 'forward',
    what: 'calls without the GIL',
    library: 'libtorch_python.so',
    any: ['PyEval_SaveThread'],
    imported: true,
  },
  {
    of: 'forward',
    what: 'calls without the GIL, end',
    library: 'libtorch_python.so',
    any: ['PyEval_RestoreThread'],
    imported: true,
  },
  {
    of: 'workspaces',
    what: 'cuBLAS workspaces',
    library: 'libtorch_cuda.so',
    any: ['_ZN2at4cuda33cublas_handle_stream_to_workspaceEv'],
  },
  {
    of: 'workspaces',
    what: 'cuBLASLt workspaces',
    library: 'libtorch_cuda.so',
    any: ['_ZN2at4cuda35cublaslt_handle_stream_to_workspaceEv'],
  },
];

/** By an expression of the wheel's own headers: what it has to be. Two of a node: until it became intrusive, and since then. */
export const LAYOUTS = [
  ['backward', 'torch::autograd::Node::sequence_nr_', 'offsetof(Node, sequence_nr_)', [24, 16]],
  ['backward', 'torch::autograd::Node::thread_id_', 'offsetof(Node, thread_id_)', [48, 40]],
  ['events', 'c10::Device, bytes', 'sizeof(c10::Device)', [2]],
  ['events', 'c10::Device::index_', 'offsetof(c10::Device, index_)', [1]],
  ['events', 'c10::kCUDA', 'static_cast<unsigned long>(c10::kCUDA)', [1]],
  ['workspaces', 'c10::DataPtr, bytes', 'sizeof(c10::DataPtr)', [32]],
];
