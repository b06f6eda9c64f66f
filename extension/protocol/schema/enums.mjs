// Choices that travel as words. C++ has them as `enum class` in the same order, TypeScript as a union of the words and a list of
// all. `node test/project/schema/generate.mjs` makes both of it.

/** What a live row can be sorted by beside its figures, which say so themselves in answers.mjs. */
export const OTHER_SORTS = ['label', 'thread', 'device'];

export const enums = {
  Layer: { list: 'LAYERS', values: ['tensor', 'driver', 'host'] },
  GroupBy: {
    list: 'GROUP_BYS',
    doc:
      '`file`: of the line, as the program names it. `module-path`: parameters, their gradients and states by their names, all else ' +
      'by the call of a module in its stack. `category`: what live blocks are for. `pool`: of the framework’s allocator. Of these three ' +
      'only what lives is known, and all that is of their past is NaN.',
    values: ['site', 'line', 'function', 'file', 'thread', 'process', 'device', 'module-path', 'category', 'pool'],
  },
  LineSource: {
    list: 'LINE_SOURCES',
    doc:
      'How a Python line was found. `none`: no Python in the stack. `before-attach`: the memory was there before the ' +
      'recording began; mostly its line is unknown, and it is not a leak of what was recorded.',
    values: ['python', 'forward', 'forward-near', 'backward-call', 'none', 'before-attach'],
  },
  AllocationSort: {
    list: 'ALLOCATION_SORTS',
    values: ['bytes', 'age', 'address'],
  },
  Series: { list: 'SERIES', values: ['tensor', 'reserved', 'driver', 'host'] },
  DriverSource: { list: 'DRIVER_SOURCES', values: ['none', 'cupti', 'uprobe'] },
  Category: {
    list: 'CATEGORIES',
    doc: 'What a live block is for, as the agent found between steps; `unnamed`: not looked at.',
    values: ['other', 'parameter', 'gradient', 'optimizer', 'buffer', 'activation', 'workspace', 'unnamed'],
  },
  Pass: {
    list: 'PASSES',
    doc: 'What a program did when it allocated. `evaluation`: a forward pass of which autograd keeps nothing.',
    values: ['other', 'forward', 'evaluation', 'backward', 'optimizer'],
  },
  PoolKind: {
    list: 'POOL_KINDS',
    doc:
      '`common`: of all that has no pool of its own. `graph`: of captured CUDA graphs. `mempool`: of `torch.cuda.MemPool`. `private`: of ' +
      'one of these. `unknown`: not looked at since the segment was taken. `paused`: no pool, but tensors whose addresses are kept while ' +
      'their memory was returned to the GPU.',
    values: ['common', 'graph', 'mempool', 'private', 'unknown', 'paused'],
  },
  StepSource: {
    list: 'STEP_SOURCES',
    doc:
      'How steps were found: by the optimizer’s steps; by a line that allocates once in every round of the program’s loop; ' +
      'as equal slices of time, where neither is known (yet).',
    values: ['optimizer', 'periodic', 'time'],
  },
};
