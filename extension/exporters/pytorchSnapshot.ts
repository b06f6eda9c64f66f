import { remembered } from '../base/maps';
import type { Frame, OutOfMemory, TraceInfo } from '../protocol/trace';
import type { ExportInput } from './exportInput';
import { DRIVER, LifetimeTable, TENSOR } from './lifetimeTable';
import { pickleChunks, Shared, type PickleList, type PickleValue } from './pickle';
import { SiteBook } from './siteBook';
import { replay, type DeviceHistory, type SnapshotEvent, type SnapshotSegment } from './snapshotSweep';
import { traceFacts } from './traceFacts';

/** Allocations that ended, of all devices; more than PyTorch's viewer draws. Earlier ones are left out, with a note on that. */
const MOST_ENDED = 500_000;
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
  const snapshot = new Snapshot(input, table, slots, histories);
  yield* pickleChunks({
    segments: snapshot.segments(),
    device_traces: snapshot.traces(),
    allocator_settings: {},
    external_annotations: [],
    gpu_memory_trace: snapshot.about(),
  });
}

/** Devices keep their numbers unless two processes use the same one; then they are counted through. */
function findSlots(table: LifetimeTable): Slot[] {
  const slots = new Map<string, Slot>();
  for (let row = 0; row < table.rows; row++) {
    const [process, device, layer] = [table.get('process', row), table.get('device', row), table.get('layer', row)];
    if (device < 0 || (layer !== TENSOR && layer !== DRIVER)) continue;
    const key = `${process} ${device}`;
    remembered(slots, key, (): Slot => ({ index: device, process, device, rows: [] })).rows.push(row);
  }
  const list = [...slots.values()].sort((a, b) => a.process - b.process || a.device - b.device);
  const distinct = new Set(list.map(slot => slot.device)).size === list.length;
  return distinct ? list : list.map((slot, index) => ({ ...slot, index }));
}

class Snapshot {
  private readonly book: SiteBook;
  private readonly stacks = new Map<readonly Frame[], Shared>();

  constructor(
    private readonly input: ExportInput,
    private readonly table: LifetimeTable,
    private readonly slots: readonly Slot[],
    private readonly histories: readonly DeviceHistory[],
  ) {
    this.book = new SiteBook(input);
  }

  *segments(): Generator<PickleValue> {
    for (const [i, { index }] of this.slots.entries())
      for (const segment of this.histories[i]?.segments ?? []) yield this.segment(index, segment);
  }

  private segment(device: number, segment: SnapshotSegment): PickleValue {
    const { address, bytes, stream, row, blocks } = segment;
    const live = blocks.reduce((sum, block) => sum + this.table.get('bytes', block), 0);
    return {
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
      frames: row === null ? [] : this.frames(row),
      blocks: this.blocks(segment),
    };
  }

  private blocks({ address, bytes, blocks }: SnapshotSegment): PickleValue[] {
    const list: PickleValue[] = [];
    const gap = (from: number, to: number): void => {
      const free = { address: from, size: to - from, requested_size: 0, state: 'inactive', frames: [] };
      if (from < to) list.push(free);
    };
    let at = address;
    for (const row of blocks) {
      const [begin, size] = [this.table.get('address', row), this.table.get('bytes', row)];
      gap(at, begin);
      const frames = this.frames(row);
      list.push({ address: begin, size, requested_size: size, state: 'active_allocated', frames });
      at = begin + size;
    }
    gap(at, address + bytes);
    return list;
  }

  *traces(): Generator<PickleList> {
    const devices = Math.max(-1, ...this.slots.map(slot => slot.index)) + 1;
    for (let device = 0; device < devices; device++) {
      const i = this.slots.findIndex(slot => slot.index === device);
      yield this.trace(this.slots[i], this.histories[i]?.events ?? []);
    }
  }

  private *trace(slot: Slot | undefined, events: readonly SnapshotEvent[]): Generator<PickleValue> {
    const failures = slot === undefined ? [] : failuresOf(this.input.info, slot);
    for (const event of events) {
      while (failures[0] !== undefined && failures[0].timeNs <= event.timeNs) yield this.failure(failures.shift()!);
      yield* this.event(event);
    }
    for (const failure of failures) yield this.failure(failure);
  }

  private *event({ action, row, timeNs, range }: SnapshotEvent): Generator<PickleValue> {
    for (const name of action === 'free' ? ['free_requested', 'free_completed'] : [action])
      yield {
        action: name,
        addr: range?.address ?? this.table.get('address', row),
        size: range?.bytes ?? this.table.get('bytes', row),
        stream: this.table.get('stream', row),
        time_us: this.timeUs(timeNs),
        frames: this.frames(row),
      };
  }

  private failure({ snapshot, freeBytes, requestedBytes, timeNs, site }: OutOfMemory): PickleValue {
    return {
      action: 'oom',
      device_free: freeBytes ?? Math.max(0, (snapshot?.totalBytes ?? 0) - (snapshot?.usedBytes ?? 0)),
      size: requestedBytes,
      stream: 0,
      time_us: this.timeUs(timeNs),
      frames: this.stack(this.input.trace.site(site)?.frames ?? NO_FRAMES),
    };
  }

  /** Microseconds of the clock, as PyTorch writes them. */
  private timeUs(timeNs: number): number {
    return Math.round(this.input.info.startRealtimeMs * 1e3 + timeNs / 1e3);
  }

  private frames(row: number): Shared {
    return this.stack(this.book.site(this.table.get('site', row))?.frames ?? NO_FRAMES);
  }

  private stack(frames: readonly Frame[]): Shared {
    const list = () => frames.map(frame => ({ filename: frame.file, line: frame.line, name: frame.function }));
    return remembered(this.stacks, frames, () => new Shared(list));
  }

  about(): { [key: string]: PickleValue } {
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
