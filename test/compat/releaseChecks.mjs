// What is checked of each release: tests of test/torch, by the begin of their names.
export const CHECKS = [
  { key: 'events', title: 'events', tests: ['every event that the allocator counted'] },
  { key: 'stacks', title: 'stacks', tests: ['every stack of random calls'] },
  { key: 'modules', title: 'module paths', tests: ['bytes by module path'] },
  { key: 'names', title: 'names', tests: ['names and categories'] },
  { key: 'backward', title: 'lines of gradients', tests: ['every gradient at its forward line'] },
  { key: 'leaks', title: 'leaks, holders', tests: ['l03_forward_hook', 'l62_graph_nodes', 'n01_adam_warmup'] },
  { key: 'fixes', title: 'fixes', tests: ['a record of two tensors'] },
  { key: 'steps', title: 'steps, passes', tests: ['passes are those of the job'] },
  { key: 'ranges', title: 'ranges', tests: ['ranges of record_function'] },
  { key: 'memory', title: 'out of memory', tests: ['memory ran out of a leak'] },
  { key: 'notes', title: 'gaps are noted', tests: ['what this PyTorch does not show', 'no other holder'] },
];

export const FILES = ['exactness', 'plantedLeaks', 'keptRecord', 'trainingPasses', 'recordFunction', 'memoryRunsOut'];
