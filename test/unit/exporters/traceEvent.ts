// What the Trace Event format asks of a file, as a JSON schema: "Trace Event Format" (Google), JSON Object Format; kinds M, C,
// b, e and i alone.
const event = (ph: string, required: string[], more: object = {}): object => ({
  type: 'object',
  properties: {
    ph: { const: ph },
    name: { type: 'string', minLength: 1 },
    cat: { type: 'string' },
    pid: { type: 'integer' },
    tid: { type: 'integer' },
    ts: { type: 'number', minimum: 0 },
    args: { type: 'object' },
    ...more,
  },
  required: ['ph', 'name', 'pid', ...required],
});
const id2 = {
  type: 'object',
  properties: { local: { type: 'string', pattern: '^0x[0-9a-f]+$' } },
  required: ['local'],
  additionalProperties: false,
};
const numbers = { type: 'object', additionalProperties: { type: 'number', minimum: 0 }, minProperties: 1 };
const named = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

export const TRACE_EVENT_SCHEMA = {
  type: 'object',
  required: ['traceEvents'],
  properties: {
    displayTimeUnit: { enum: ['ms', 'ns'] },
    otherData: { type: 'object' },
    traceEvents: {
      type: 'array',
      items: {
        oneOf: [
          event('M', ['args'], { name: { enum: ['process_name', 'thread_name'] }, args: named }),
          event('C', ['ts', 'args'], { args: numbers }),
          event('b', ['ts', 'cat', 'id2'], { id2 }),
          event('e', ['ts', 'cat', 'id2'], { id2 }),
          event('i', ['ts', 's', 'tid'], { s: { enum: ['g', 'p', 't'] } }),
        ],
      },
    },
  },
};
