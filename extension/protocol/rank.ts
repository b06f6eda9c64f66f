// The place of a process in a job of many ranks, by its launcher and torch.distributed (native/inject/job.h, native/agent/job.py).
import { JOB } from './notes';
import type { ProcessInfo } from './trace';

export interface RankInfo {
  /** Names the run, the same in all its ranks; empty: unknown. */
  run: string;
  host: string;
  /** Of the whole job, from 0; null: unknown, so is each number below. */
  rank: number | null;
  localRank: number | null;
  nodeRank: number | null;
  worldSize: number | null;
  /** How many of them are on this machine. */
  localWorldSize: number | null;
  /** torchrun's word for a kind of workers; empty: not set. */
  role: string;
  /** By dimension of a device mesh, or of Megatron's groups (`dp`, `tp`, `pp`, `ep`): the place in it, and its size. */
  mesh: Record<string, [place: number, size: number]>;
  /** By device: `GPU-…`, as nvidia-smi has it. */
  gpus: Record<number, string>;
}

/** In order of precedence: torch.distributed, the user, torchrun (Accelerate, DeepSpeed and Ray Train have its names), MPI, Slurm, Kubernetes. */
const NAMES = {
  rank: [
    ...['rank', 'GPU_MEMTRACE_RANK', 'RANK', 'OMPI_COMM_WORLD_RANK', 'PMI_RANK', 'SLURM_PROCID'],
    'JOB_COMPLETION_INDEX',
  ],
  localRank: ['LOCAL_RANK', 'OMPI_COMM_WORLD_LOCAL_RANK', 'MPI_LOCALRANKID', 'SLURM_LOCALID'],
  nodeRank: ['GROUP_RANK', 'NODE_RANK', 'SLURM_NODEID'],
  worldSize: ['world', 'WORLD_SIZE', 'OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'SLURM_NTASKS'],
  localWorldSize: ['LOCAL_WORLD_SIZE'],
  role: ['ROLE_NAME'],
  run: ['GPU_MEMTRACE_RUN', 'SLURM_JOB_ID', 'TORCHELASTIC_RUN_ID', 'PMIX_NAMESPACE', 'RAY_JOB_ID', 'JOB_NAME'],
};
/** What torchrun and its roles are called if they have no name. */
const NO_NAMES: ReadonlySet<string> = new Set(['none', 'default']);
const MESH = /^(\d+)\/(\d+)$/;

/** The place of a process in its job, by its notes. */
export function rankOf({ notes }: Pick<ProcessInfo, 'notes'>): RankInfo {
  return rankIn(notes.flatMap(({ code, text }) => (code === JOB ? text.split('\n').map(line => split(line)) : [])));
}

/** Settings of PyTorch's allocator, as in PYTORCH_CUDA_ALLOC_CONF; empty: none, or a trace that does not have them. */
export function allocatorSettings({ notes }: Pick<ProcessInfo, 'notes'>): string {
  const lines = notes.flatMap(({ code, text }) => (code === JOB ? text.split('\n').map(line => split(line)) : []));
  return new Map(lines).get('allocator') ?? '';
}

/** `, rank 3 of 8 on n7`; empty: no rank is known. */
export function rankText(process: Pick<ProcessInfo, 'notes'>): string {
  const { rank, worldSize, host } = rankOf(process);
  if (rank === null) return '';
  return `, rank ${rank}${worldSize === null ? '' : ` of ${worldSize}`}${host === '' ? '' : ` on ${host}`}`;
}

/** The same, by names and values: those of an environment, of which the last word counts. */
export function rankIn(facts: Iterable<readonly [string, string | undefined]>): RankInfo {
  const fields = new Map(facts);
  // A program that begins MPI by itself, as Lightning does where mpi4py is, names a job of one.
  if (!(Number(fields.get('OMPI_COMM_WORLD_SIZE')) > 1)) fields.delete('PMIX_NAMESPACE');
  const first = (names: readonly string[]): string =>
    names.map(name => fields.get(name) ?? '').find(value => value !== '' && !NO_NAMES.has(value)) ?? '';
  const count = (names: readonly string[]): number | null => {
    const value = first(names);
    return /^\d{1,7}$/.test(value) ? Number(value) : null; // more are none
  };
  const mesh: RankInfo['mesh'] = {};
  const gpus: RankInfo['gpus'] = {};
  for (const [name, value = ''] of fields) {
    const [, place, size] = MESH.exec(value) ?? [];
    if (place !== undefined && name === name.toLowerCase()) mesh[name] = [Number(place), Number(size)];
    if (/^gpu\d+$/.test(name)) gpus[Number(name.slice(3))] = value;
  }
  return {
    ...{ run: first(NAMES.run), host: fields.get('host') ?? '', role: first(NAMES.role), mesh, gpus },
    ...{ rank: count(NAMES.rank), localRank: count(NAMES.localRank) },
    ...{ nodeRank: count(NAMES.nodeRank), worldSize: count(NAMES.worldSize) },
    localWorldSize: count(NAMES.localWorldSize),
  };
}

function split(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
