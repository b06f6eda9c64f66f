import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Function, Label, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format';
import { deviceName } from '../text/format';
import { remembered } from '../base/maps';
import type { Frame, TraceInfo } from '../protocol/trace';
import type { ExportInput } from './exportInput';
import { SiteBook, threadName } from './siteBook';
import { layersOf, sumSites, type SiteSum } from './siteSums';
import { factLines, traceFacts } from './traceFacts';

/** Each layer has sample types of its own: tensors live inside what the driver handed out, so layers are never added. */
const MEASURES: [name: string, unit: 'bytes' | 'count', value: (sum: SiteSum) => number][] = [
  ['live_space', 'bytes', sum => sum.liveBytes],
  ['live_objects', 'count', sum => sum.liveCount],
  ['peak_space', 'bytes', sum => sum.peakBytes],
  ['peak_objects', 'count', sum => sum.peakCount],
  ['alloc_space', 'bytes', sum => sum.allocatedBytes],
  ['alloc_objects', 'count', sum => sum.allocations],
];

/** A gzipped pprof profile: a sample for each stack, thread and device, with labels thread, process, device. */
export async function* pprofChunks(input: ExportInput): AsyncGenerator<Uint8Array> {
  const profile = buildProfile(input, await sumSites(input));
  yield await promisify(gzip)(profile.encode());
}

function buildProfile(input: ExportInput, sums: readonly SiteSum[]): Profile {
  const { info, selection } = input;
  const strings = new StringTable();
  const layers = layersOf(sums);
  const types = layers.flatMap(layer =>
    MEASURES.map(
      ([name, unit]) => new ValueType({ type: strings.dedup(`${layer}_${name}`), unit: strings.dedup(unit) }),
    ),
  );
  const stacks = new StackTable(strings);
  const book = new SiteBook(input);
  const sample = sums.map(
    sum =>
      new Sample({
        locationId: book.frames(sum.site).map(frame => stacks.location(frame)),
        value: layers.flatMap(layer => MEASURES.map(([, , value]) => (layer === sum.layer ? value(sum) : 0))),
        label: labels(info, sum, strings),
      }),
  );
  return new Profile({
    sampleType: types,
    sample,
    location: stacks.locations,
    function: stacks.functions,
    stringTable: strings,
    timeNanos: BigInt(Math.round(info.startRealtimeMs * 1e3)) * 1000n,
    durationNanos: Math.round(info.durationNs),
    comment: factLines(traceFacts(info, selection)).map(line => strings.dedup(line)),
    defaultSampleType: layers[0] === undefined ? 0 : strings.dedup(`${layers[0]}_live_space`),
  });
}

function labels(info: TraceInfo, sum: SiteSum, strings: StringTable): Label[] {
  const process = info.processes[sum.process];
  const texts = { thread: threadName(info, sum.process, sum.thread), device: deviceName(sum.device, sum.layer) };
  return [
    ...Object.entries(texts)
      .filter(([, text]) => text !== '')
      .map(([key, text]) => new Label({ key: strings.dedup(key), str: strings.dedup(text) })),
    ...(process === undefined ? [] : [new Label({ key: strings.dedup('pid'), num: process.pid })]),
  ];
}

/** Functions and lines, each once; ids count from 1. */
class StackTable {
  readonly locations: Location[] = [];
  readonly functions: Function[] = [];
  private readonly known = new Map<string, number>();

  constructor(private readonly strings: StringTable) {}

  location(frame: Frame): number {
    return remembered(this.known, `l ${frame.line} ${frame.file}\n${frame.function}`, () => {
      const line = new Line({ functionId: this.functionOf(frame), line: frame.line });
      return this.locations.push(new Location({ id: this.locations.length + 1, line: [line] }));
    });
  }

  private functionOf({ file, function: name }: Frame): number {
    return remembered(this.known, `f ${file}\n${name}`, () => {
      const [id, text] = [this.functions.length + 1, this.strings.dedup(name)];
      return this.functions.push(
        new Function({ id, name: text, systemName: text, filename: this.strings.dedup(file) }),
      );
    });
  }
}
