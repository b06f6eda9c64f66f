import { kinds, type LogFile } from '../addon/logFile';
import { SCRIPT } from './runTrace';
import { StepRun, type Block } from './stepRun';

/** A run that is written to the log of a process, too. */
export class LoggedRun extends StepRun {
  private readonly stacks = new Map<number, number>();

  constructor(private readonly log: LogFile) {
    super();
    log.thread(0, 10, 'python');
    log.process(['python', SCRIPT]);
  }

  override alloc(site: number, bytes: number): Block {
    const block = super.alloc(site, bytes);
    let stack = this.stacks.get(site);
    if (stack === undefined)
      this.stacks.set(site, (stack = this.log.stack([{ file: SCRIPT, line: site, function: 'train' }])));
    this.log.event(kinds.tensorAlloc, block.address, bytes, stack);
    return block;
  }

  override free(block: Block | undefined, collected = false): void {
    super.free(block, collected);
    if (block === undefined) return;
    if (collected) this.log.event(kinds.gcBegin, 2, 0);
    this.log.event(kinds.tensorFree, block.address, block.bytes);
    if (collected) this.log.event(kinds.gcEnd, 1, 0);
  }

  override endStep(): void {
    super.endStep();
    this.log.event(kinds.step, 0, 0);
  }
}
