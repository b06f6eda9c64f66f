import { changeText, notes } from '../../fit/fitText';
import { fitAnswer } from '../fitCommand';
import { pick, type Handler } from './answer';
import { idOf } from './traces';

interface Given {
  trace: string;
  batch?: number;
  other_trace?: string;
  other_batch?: number;
  try_batch?: number;
  gpu_gib?: number;
  checkpoint?: string;
  allocator?: string;
  accumulate?: number;
  optimizer_states_percent?: number;
  no_foreach?: boolean;
  bf16_parameters?: boolean;
  set_to_none?: boolean;
  free_line?: string;
  fsdp_ranks?: number;
}

/** `gpu-memtrace fit`. */
export const forecastMemory: Handler<Given> = async (given, { dist }) => {
  const { trace, batch, other_trace: other = null, other_batch: otherBatch, try_batch: tried = null } = given;
  const { gpu_gib: gib, checkpoint = null, allocator = null, accumulate: parts = 1 } = given;
  const { optimizer_states_percent: percent = 100, free_line: freedLine = null, fsdp_ranks: ranks = 1 } = given;
  const { no_foreach: oneByOne = false, bf16_parameters: halfParameters = false } = given;
  const { set_to_none: gradientsFreed = false } = given;
  const batches = [batch, otherBatch].filter(each => each !== undefined);
  if ((other === null ? otherBatch !== undefined : batches.length < 2) || (batch !== undefined && batch === otherBatch))
    throw new Error('Give other_trace together with batch and other_batch, which must differ.');
  if (tried !== null && batch === undefined) throw new Error('Give the batch of the trace together with try_batch.');
  const answer = await fitAnswer(
    {
      ...{ verb: 'fit', where: idOf(trace), other, batches, tried, checkpoint, allocator, format: 'json' },
      ...{ parts, stateShare: percent / 100, oneByOne, halfParameters, gradientsFreed, freedLine, ranks },
      gpuBytes: gib === undefined ? null : gib * 2 ** 30,
    },
    dist,
  );
  if ('error' in answer) throw new Error(answer.error);
  return {
    ...pick(answer, 'trace', 'gpu', 'totalBytes', 'outsideBytes', 'othersBytes', 'batch'),
    replay: pick(answer.replay, 'allocations', 'equal'),
    changes: answer.changes.map(change => ({
      change: changeText(change, answer.batch),
      ...pick(change, 'reservedBytes', 'totalBytes', 'fits'),
      largestBatch: answer.batch === null ? null : Math.round((change.largestFactor ?? 0) * answer.batch),
      largestFactor: answer.batch === null ? change.largestFactor : null,
    })),
    unknown: notes(answer, false),
  };
};
