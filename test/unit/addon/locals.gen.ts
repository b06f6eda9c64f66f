// Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
/** Kinds of local records. */
export const locals = {
  endOfChunk: 1,
  timeBase: 2,
  driverDetail: 3,
  autograd: 4,
  thread: 5,
  code: 6,
  stack: 7,
  device: 8,
  process: 9,
  note: 10,
  node: 11,
  name: 12,
  memory: 13,
  answer: 14,
  library: 15,
  allocator: 16,
  block: 17,
  writer: 18,
  before: 19,
};
