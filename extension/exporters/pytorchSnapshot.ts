import type { Frame, OutOfMemory, TraceInfo } from '../protocol/trace';
import type { ExportInput } from './exportInput';
import { DRIVER, LifetimeTable, TENSOR } from './lifetimeTable';
import { PickleWriter, type PickleValue } from './pickle';
import { SiteBook } from './siteBook';
import { replay, type DeviceHistory, type SnapshotEvent, type SnapshotSegment } from './snapshotSweep';
import { traceFacts } from './traceFacts';

/** Allocations that ended, of all devices; more than PyTorch's viewer draws. Earlier ones are left out, and it is said. */
const MOST_ENDED = 500_000;
const EVENTS_AT_ONCE = 1_000;
const CHUNK_BYTES = 1 << 16;
/** PyTorch's allocator takes small blocks from segments of this size. */
const SMALL_SEGMENT_BYTES = 2 << 20;
const NO_FRAMES: readonly Frame[] = [];

/** One entry of `device_traces`: a process on a device. */
interface Slot {
  index: number;
  process: number;
  device: number;
  rows: number[];
}

/**
 * A snapshot as torch.cuda.memory._dump_snapshot writes it: opens in PyTorch's memory viewer. `gpu_memory_trace` holds what the
 * format has no place for. A free carries the stack of its allocation; sizes are those that the allocator handed out.
 */
export async function* pytorchSnapshotChunks(input: ExportInput): AsyncGenerator<Buffer> {
  const table = new LifetimeTable(MOST_ENDED);
  for await (const batch of input.batches) table.add(batch);
  table.finish();
  const slots = findSlots(table);
  const histories = slots.map(slot => {
    const map = input.trace.segments({ process: slot.process, device: slot.device, maxBlocks: 1 });
    return replay(table, slot.rows, map);
  });
  yield* new SnapshotWriter(input, table, slots, histories).chunks();
}

/** Devices keep their numbers unless two processes use the same one; then they are counted through. */
function findSlots(table: LifetimeTable): Slot[] {
  const slots = new Map<string, Slot>();
  for (let row = 0; row < table.rows; row++) {
    const [process, device, layer] = [table.get('process', row), table.get('device', row), table.get('layer', row)];
    if (device < 0 || (layer !== TENSOR && layer !== DRIVER)) continue;
    const key = `${process} ${device}`;
    const slot = slots.get(key) ?? { index: device, process, device, rows: [] };
    slots.set(key, slot);
    slot.rows.push(row);
  }
  const list = [...slots.values()].sort((a, b) => a.process - b.process || a.device - b.device);
  const distinct = new Set(list.map(slot => slot.device)).size === list.length;
  return distinct ? list : list.map((slot, index) => ({ ...slot, index }));
}

class SnapshotWriter {
  private readonly pickle = new PickleWriter();
  private readonly book: SiteBook;

  constructor(
    private readonly input: ExportInput,
    private readonly table: LifetimeTable,
    private readonly slots: readonly Slot[],
    private readonly histories: readonly DeviceHistory[],
  ) {
    this.book = new SiteBook(input);
  }

  *chunks(): Generator<Buffer> {
    const { pickle } = this;
    pickle.dict();
    pickle.mark();
    pickle.string('segments');
    yield* this.segments();
    pickle.string('device_traces');
    yield* this.traces();
    pickle.string('allocator_settings');
    pickle.value({});
    pickle.string('external_annotations');
    pickle.value([]);
    pickle.string('gpu_memory_trace');
    pickle.value(this.about());
    pickle.setItems();
    pickle.stop();
    yield pickle.take();
  }

  private *segments(): Generator<Buffer> {
    this.pickle.list();
    for (const [i, slot] of this.slots.entries()) {
      for (const segment of this.histories[i]?.segments ?? []) {
        this.pickle.mark();
        this.segment(slot.index, segment);
        this.pickle.appends();
        if (this.pickle.pending > CHUNK_BYTES) yield this.pickle.take();
      }
    }
  }

  private segment(device: number, segment: SnapshotSegment): void {
    const { address, bytes, stream, row, blocks } = segment;
    const live = blocks.reduce((sum, block) => sum + this.table.get('bytes', block), 0);
    this.pickle.value({
      device,
      address,
      total_size: bytes,
      allocated_size: live,
      active_size: live,
      requested_size: live,
      stream,
      segment_type: bytes > SMALL_SEGMENT_BYTES ? 'large' : 'small',
      segment_pool_id: [0, 0],
      is_expandable: row === null,
    });
    this.pickle.mark();
    this.pickle.string('frames');
    if (row === null) this.pickle.value([]);
    else this.frames(this.table.get('site', row));
    this.pickle.string('blocks');
    this.blocks(segment);
    this.pickle.setItems();
  }

  private blocks({ address, bytes, blocks }: SnapshotSegment): void {
    this.pickle.list();
    let at = address;
    for (const row of blocks) {
      const begin = this.table.get('address', row);
      if (begin > at) this.gap(at, begin);
      const size = this.table.get('bytes', row);
      this.pickle.mark();
      this.pickle.value({ address: begin, size, requested_size: size, state: 'active_allocated' });
      this.addFrames(row);
      this.pickle.appends();
      at = begin + size;
    }
    if (at < address + bytes) this.gap(at, address + bytes);
  }

  private gap(from: number, to: number): void {
    this.pickle.mark();
    this.pickle.value({ address: from, size: to - from, requested_size: 0, state: 'inactive', frames: [] });
    this.pickle.appends();
  }

  private *traces(): Generator<Buffer> {
    const { pickle } = this;
    pickle.list();
    const devices = Math.max(-1, ...this.slots.map(slot => slot.index)) + 1;
    for (let device = 0; device < devices; device++) {
      const i = this.slots.findIndex(slot => slot.index === device);
      pickle.mark();
      pickle.list();
      yield* this.trace(this.slots[i], this.histories[i]?.events ?? []);
      pickle.appends();
    }
  }

  private *trace(slot: Slot | undefined, events: readonly SnapshotEvent[]): Generator<Buffer> {
    const failures = slot === undefined ? [] : failuresOf(this.input.info, slot);
    for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) {
      this.pickle.mark();
      for (const event of events.slice(from, from + EVENTS_AT_ONCE)) {
        while ((failures[0]?.timeNs ?? Infinity) <= event.timeNs) this.failure(failures.shift());
        this.event(event);
      }
      this.pickle.appends();
      if (this.pickle.pending > CHUNK_BYTES) yield this.pickle.take();
    }
    if (failures.length === 0) return;
    this.pickle.mark();
    for (const failure of failures) this.failure(failure);
    this.pickle.appends();
  }

  private event({ action, row, timeNs }: SnapshotEvent): void {
    for (const name of action === 'free' ? ['free_requested', 'free_completed'] : [action]) {
      this.pickle.value({
        action: name,
        addr: this.table.get('address', row),
        size: this.table.get('bytes', row),
        stream: this.table.get('stream', row),
        time_us: this.timeUs(timeNs),
      });
      this.addFrames(row);
    }
  }

  private failure(failure: OutOfMemory | undefined): void {
    if (failure === undefined) return;
    const { snapshot } = failure;
    const free = snapshot === null ? 0 : Math.max(0, (snapshot.totalBytes ?? 0) - (snapshot.usedBytes ?? 0));
    this.pickle.value({
      action: 'oom',
      device_free: free,
      size: failure.requestedBytes,
      stream: 0,
      time_us: this.timeUs(failure.timeNs),
    });
    this.pickle.mark();
    this.pickle.string('frames');
    this.frameList(this.input.trace.site(failure.site)?.frames ?? []);
    this.pickle.setItems();
  }

  /** Microseconds of the clock, as PyTorch writes them. */
  private timeUs(timeNs: number): number {
    return Math.round(this.input.info.startRealtimeMs * 1e3 + timeNs / 1e3);
  }

  /** To the dict just written. */
  private addFrames(row: number): void {
    this.pickle.mark();
    this.pickle.string('frames');
    this.frames(this.table.get('site', row));
    this.pickle.setItems();
  }

  private frames(site: number): void {
    this.frameList(this.book.site(site)?.frames ?? NO_FRAMES);
  }

  private frameList(stack: readonly Frame[]): void {
    this.pickle.shared(stack, () => {
      this.pickle.value(stack.map(frame => ({ filename: frame.file, line: frame.line, name: frame.function })));
    });
  }

  private about(): { [key: string]: PickleValue } {
    const { info, selection } = this.input;
    const facts = JSON.parse(JSON.stringify(traceFacts(info, selection))) as { [key: string]: PickleValue };
    return {
      ...facts,
      frees_have_the_stack_of_their_allocation: true,
      ended_allocations_left_out: this.table.dropped,
      devices: this.slots.map((slot, i) => ({
        index: slot.index,
        device: slot.device,
        pid: info.processes[slot.process]?.pid ?? 0,
        driver_bytes_outside_segments: this.histories[i]?.otherDriverBytes ?? 0,
      })),
    };
  }
}

function failuresOf(info: TraceInfo, { process, device }: Slot): OutOfMemory[] {
  return info.outOfMemory
    .filter(failure => failure.process === process && failure.device === device)
    .sort((a, b) => a.timeNs - b.timeNs);
}
