import { hostname } from 'node:os';
import { accessSync, constants } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Copies, SpaceLimits } from '../../capture/launch/recorder';
import { expandFolder, traceName, TRACES } from '../../capture/traces/jobFolder';
import { reasonOf } from '../../capture/traces/traceDirectory';
import type { NativeAddon, NativeTrace } from '../../native/addon';
import { makeFolder, removeFile, writeWhole } from '../../files/files';
import { rankIn } from '../../protocol/rank';
import type { RankSet } from '../arguments/ranks';
import { notify } from '../output/output';
import { JobWriter } from '../../jobs/jobWriter';

const GATHER_MS = 1_000;
const FIRST_WRITE_MS = 5_000;
const WRITE_MS = 60_000;
/** The recorder copies the trace so often: a node that dies leaves its last copy. */
const COPY_SECONDS = 180;
/** What the trace of a rank may take that is not recorded in full: all that was made of old events is in it, exactly. */
const BRIEF: SpaceLimits = { budgetBytes: 48 << 20, detailBytes: 12 << 20 };
const LAUNCHERS = /^(torchrun|accelerate|deepspeed|mpirun|mpiexec|torch\.distributed\.run)$/;

/** `-o DIR/`: where the ranks of a job gather; null: it names a file. */
export function jobFolderOf(output: string | null): string | null {
  return output?.endsWith('/') ? resolve(expandFolder(output, process.env, hostname(), process.pid)) : null;
}

/** One sentence where nothing can be gathered there, else null. Makes the folder, with what is `within` it. */
export function unwritableJob(folder: string, within = TRACES): string | null {
  try {
    makeFolder(join(folder, within));
    accessSync(join(folder, within), constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return `${folder} cannot be written: ${reasonOf(error)}.`;
  }
}

/** What a trace may take where only some ranks are recorded in full; where that cannot be, a sentence on why. */
export function jobLimits(limits: SpaceLimits, ranks: RankSet | null, command: readonly string[]): SpaceLimits {
  if (ranks === null) return limits;
  const { rank } = rankIn(Object.entries(process.env));
  // It starts several ranks below this recording, though Slurm gives it a number.
  const launcher = command.map(word => basename(word)).find(word => LAUNCHERS.test(word));
  if (launcher !== undefined)
    notify(
      `--ranks has no effect: all ranks that ${launcher} starts share one recording. Set GPU_MEMTRACE_RANKS with the Python package instead.`,
    );
  else if (rank === null) notify('--ranks has no effect: no launcher has set the rank of this process.');
  if (launcher !== undefined || rank === null || ranks(rank)) return limits;
  return { budgetBytes: Math.min(limits.budgetBytes, BRIEF.budgetBytes), detailBytes: BRIEF.detailBytes };
}

/** A trace that is recorded as a part of a job: its tables are written as it continues. */
export class JobRecording {
  readonly traceFile: string;
  readonly copies: Copies;
  private readonly writer: Promise<JobWriter>;
  private readonly timers: NodeJS.Timeout[] = [];
  private failed = false;

  /** `directory`: where the trace is recorded, on this machine's own disk. Throws where the folder cannot be made. */
  constructor(folder: string, directory: string, session: NativeTrace) {
    const trace = join(TRACES, traceName(hostname(), process.pid));
    this.traceFile = join(folder, trace);
    this.copies = { file: this.traceFile, seconds: COPY_SECONDS };
    writeWhole(join(directory, 'copies'), [], { ofTrace: true });
    this.writer = JobWriter.open(folder, session, trace);
    this.every(GATHER_MS, writer => writer.gather());
    this.timers.push(setTimeout(() => void this.attempt(writer => writer.write()), FIRST_WRITE_MS).unref());
    this.every(WRITE_MS, writer => writer.write());
  }

  /** Writes what there is at the end, the allocations too. Never throws. */
  async finish(addon: NativeAddon, directory: string): Promise<void> {
    this.timers.forEach(timer => clearInterval(timer));
    removeFile(join(directory, 'copies')); // none comes after the trace that is saved now
    this.failed = false;
    await this.attempt(async writer => {
      writer.write();
      await writer.writeAllocations(addon, directory, false);
    });
  }

  private every(ms: number, work: (writer: JobWriter) => void): void {
    this.timers.push(setInterval(() => void this.attempt(work), ms).unref());
  }

  /** What a folder on a network refuses is reported once, and tried again. */
  private async attempt(work: (writer: JobWriter) => void | Promise<void>): Promise<void> {
    try {
      await work(await this.writer);
      this.failed = false;
    } catch (error) {
      if (!this.failed) notify(`The tables of the job cannot be written: ${reasonOf(error)}.`);
      this.failed = true;
    }
  }
}
