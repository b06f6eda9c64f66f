// The tab with the segment map: what it is coloured by, whose memory it is, a sentence on fragmentation.
import { t } from '@vscode/l10n';
import { CATEGORIES, type TraceInfo } from '../../../extension/protocol/trace';
import type { Moment } from '../../../extension/protocol/requests/moment';
import { isSnapshot } from '../../../extension/protocol/notes';
import { fileLine, formatBytes } from '../../../extension/text/format';
import { dropdown, openBelow } from '../../components';
import { button, differs, el, setAttribute, setText } from '../../dom';
import { blockAt, CATEGORY_WORDS, streamText } from '../common/blockRow';
import { deviceText } from '../common/threadNames';
import { stepsText } from '../common/counts';
import { setWrapped } from '../common/named';
import { PolledPart, type PageActions, type PageContext } from '../state/part';
import { FIGURES_MS } from '../state/poller';
import { onLinesNamed } from '../common/hues';
import { SegmentColours } from './colours';
import type { ColourBy } from '../state/state';
import { fragmentationText, leftOutText, noSegmentText, SegmentItems, type SegmentItem } from './items';
import { SegmentKeys } from './segmentKeys';
import { SegmentView } from './segmentsView';
import { ALL } from '../state/state';

const NAME_DELAY_MS = 150;
const COLOURS: readonly (readonly [ColourBy, string])[] = [
  ['line', t('Color by line')],
  ['age', t('Color by age')],
  ['pool', t('Color by pool')],
];

/** Memory of one process on one device. */
interface Owner {
  process: number;
  device: number;
  bytes: number;
}

export class SegmentPart extends PolledPart {
  readonly element: HTMLElement;
  private readonly view: SegmentView;
  private readonly colour = dropdown('segment-colour', t('Color by'), COLOURS, by =>
    this.page.dispatch({ type: 'segments', segments: { colourBy: by } }),
  );
  private readonly owner = dropdown('segment-owner', t('Process and device'), [], (owner: string) => {
    this.chosenOwner = owner;
    this.poller.invalidate(true);
  });
  private readonly scale = button('toggle', 'to-scale', t('One scale'), () => {
    const toScale = !(this.page.now()?.view.segments.toScale ?? true);
    this.page.dispatch({ type: 'segments', segments: { toScale } });
  });
  private readonly gap = button('toggle', 'largest-gap', t('Largest gap'), () => {
    const gap = this.items?.largestGap();
    if (gap) this.view.activate(gap);
  });
  private readonly summary = el('p', { class: 'segment-summary', 'data-value': 'fragmentation' });
  private readonly keys = new SegmentKeys(line => this.view.highlight(line));
  private readonly words = el('span', { class: 'flame-words', role: 'status', 'data-value': 'segment-status' });
  private items: SegmentItems | null = null;
  private colours: SegmentColours | null = null;
  private chosenOwner = '';
  private nameTimer = 0;
  drawn?: Moment;

  /** @param onDrawn another moment is shown now */
  constructor(
    page: PageActions,
    private readonly onDrawn: () => void,
  ) {
    super(page, FIGURES_MS, ['segments', 'moment', 'process', 'device'], true);
    onLinesNamed(() => {
      const { items, colours } = this;
      if (items && colours) this.show(items, new SegmentColours(colours.picture, colours.by));
    });
    this.view = new SegmentView({
      describe: item => this.describe(item),
      active: item => this.showWords(item),
      choose: item => void this.choose(item),
      openLine: item => this.open(item),
    });
    openBelow(this.colour, this.owner);
    const foot = el('div', { class: 'flame-foot' }, this.words);
    this.element = el('div', { class: 'segments' }, this.toolbar(), this.view.element, foot);
  }

  override update({ view, info }: PageContext): void {
    const { colourBy, toScale } = view.segments;
    this.colour.set(colourBy);
    setAttribute(this.scale, 'aria-pressed', String(toScale));
    this.view.scale(toScale);
    const owners = ownersOf(info, view);
    const options = owners.map(owner => [keyOf(owner), nameOf(owner, info)] as const);
    this.owner.element.hidden = options.length < 2;
    if (options.length > 1) this.owner.offer(options, keyOf(this.ownerNow(owners)));
  }

  forget(): void {
    this.items = this.colours = null;
    this.chosenOwner = '';
    delete this.drawn;
    differs(this.element);
    this.view.forget();
    setText(this.summary, '');
    setText(this.words, '');
  }

  private toolbar(): HTMLElement {
    this.scale.title = t('Draw segments to one scale instead of at full width');
    const choices = [this.colour.element, this.owner.element, this.scale, this.gap];
    const controls = el('div', { class: 'controls' }, ...choices);
    return el('div', { class: 'toolbar' }, this.summary, controls, this.keys.element);
  }

  private ownerNow(owners: readonly Owner[]): Owner | undefined {
    return owners.find(owner => keyOf(owner) === this.chosenOwner) ?? owners[0];
  }

  /** Shortest first: bytes, line, age, what it is for. */
  private describe(item: SegmentItem): string[] {
    const { items, colours } = this;
    if (!items || !colours) return [];
    const { map } = items;
    const bytes = formatBytes(map.bytes[item.segment]!);
    const segment = t('segment {0} of {1}: {2}', item.segment + 1, items.segments, bytes);
    const pool = colours.poolOf(item.segment);
    const where = `${segment}, ${streamText(map.stream[item.segment]!)}${pool === '' ? '' : `, ${pool}`}`;
    if (item.kind === 'gap') return [t('{0} free', formatBytes(item.bytes)), where];
    const { file, line, function: name } = colours.place(this.siteOf(item));
    const place = line > 0 ? `${fileLine(file, line)} ${name}` : t('no Python line');
    if (item.block < 0) return [formatBytes(item.bytes), place, where];
    const category = CATEGORY_WORDS[CATEGORIES[map.blocks.category[item.block]!] ?? 'unnamed'];
    const age = stepsText(map.blocks.ageSteps[item.block]!);
    return [formatBytes(item.bytes), place, age, ...(category === '' ? [] : [category]), where];
  }

  private siteOf(item: SegmentItem): number {
    const { map } = this.items!;
    return item.block < 0 ? map.site[item.segment]! : map.blocks.site[item.block]!;
  }

  private showWords(item: SegmentItem | null): void {
    clearTimeout(this.nameTimer);
    const text = item ? this.describe(item).join(' · ') : '';
    if (this.words.textContent?.endsWith(text) && text !== '') return;
    setWrapped(this.words, text);
    if (item?.kind !== 'block') return;
    this.nameTimer = setTimeout(() => {
      void this.read(item).then(block => {
        if (block?.name && this.words.textContent === text) setWrapped(this.words, `${block.name} · ${text}`);
      });
    }, NAME_DELAY_MS);
  }

  private async read(item: SegmentItem): Promise<ReturnType<typeof blockAt>> {
    const [context, owner, items] = [this.page.now(), this.ownerOf(), this.items];
    if (!context || !owner || !items) return null;
    const address = `0x${(items.map.address[item.segment]! + BigInt(item.offset)).toString(16)}`;
    const query = { process: owner.process, site: this.siteOf(item), address, moment: context.view.moment };
    const window = await this.page.request('block', query);
    return window ? blockAt(window, 0) : null;
  }

  private ownerOf(): Owner | undefined {
    const context = this.page.now();
    return context ? this.ownerNow(ownersOf(context.info, context.view)) : undefined;
  }

  private async choose(item: SegmentItem): Promise<void> {
    if (item.kind === 'gap' || !this.colours) return;
    const site = this.siteOf(item);
    const { file, line, function: name } = this.colours.place(site);
    const layer = this.items?.map.source === 'driver' ? 'driver' : 'tensor';
    const block = await this.read(item);
    const title = line > 0 ? fileLine(file, line) : t('no Python line');
    const subject = { key: `segments/${layer}/${site}`, title, tooltip: `${file}:${line}`, summary: name };
    this.page.show({ ...subject, site, blocks: { layer, site }, liveCount: null }, block ?? undefined);
    if (!block) setText(this.words, t('It has been freed.'));
  }

  private open(item: SegmentItem): void {
    if (item.kind === 'gap' || !this.colours) return;
    const { file, line } = this.colours.place(this.siteOf(item));
    if (line > 0) this.page.openLine(file, line);
  }

  protected async load(): Promise<void> {
    const before = this.page.now();
    const owner = this.ownerOf();
    if (!before) return;
    if (!owner) {
      this.drawn = before.view.moment;
      return setText(this.summary, noSegmentText(this.running));
    }
    const { process, device } = owner;
    const { moment } = before.view;
    const picture = await this.page.request('segments', { process, device, moment });
    const after = this.page.now();
    if (!picture || !after || keyOf(this.ownerOf()) !== keyOf(owner) || after.view.moment !== moment) return;
    this.drawn = moment;
    this.onDrawn();
    const { colourBy } = after.view.segments;
    const trace = after.info.startRealtimeMs;
    if (!differs(this.element, trace, process, device, moment, picture.map.revision, colourBy, this.running)) return;
    this.show(new SegmentItems(picture.map), new SegmentColours(picture, colourBy));
  }

  private get running(): boolean {
    return this.page.now()?.session.phase === 'running';
  }

  private show(items: SegmentItems, colours: SegmentColours): void {
    this.items = items;
    this.colours = colours;
    const { picture } = colours;
    this.gap.hidden = items.largestGap() === null;
    this.colour.element.hidden = this.scale.hidden = picture.map.bytes.length === 0;
    setText(this.summary, `${fragmentationText(picture.map, this.running)} ${leftOutText(picture.map)}`.trim());
    this.keys.show(colours);
    this.view.show(items, colours);
  }
}

/** The processes with memory on each device, biggest first. */
function ownersOf(info: TraceInfo, scope: { process: number; device: number }): Owner[] {
  const owners = new Map<string, Owner>();
  for (const { process, device, liveBytes } of info.totals) {
    if (device < 0 || (scope.process !== ALL && scope.process !== process)) continue;
    if (scope.device !== ALL && scope.device !== device) continue;
    const owner = owners.get(`${process}/${device}`) ?? { process, device, bytes: 0 };
    owner.bytes = Math.max(owner.bytes, liveBytes);
    owners.set(keyOf(owner), owner);
  }
  return [...owners.values()].sort((a, b) => b.bytes - a.bytes);
}

function keyOf(owner: Owner | undefined): string {
  return owner ? `${owner.process}/${owner.device}` : '';
}

function nameOf({ process, device }: Owner, { processes, devices }: TraceInfo): string {
  const own = processes.find(one => one.index === process);
  if (isSnapshot(own)) return deviceText(device, 'driver');
  const pid = own?.pid ?? process;
  return devices.length > 1 || processes.length < 2
    ? t('{0} on {1}', pid, deviceText(device, 'driver'))
    : t('process {0}', pid);
}
