// The page of a job of many ranks.
import '../strings';
import '../base.css';
import '../document.css';
import './job.css';
import { t } from '@vscode/l10n';
import { formatBytes, formatCount, fileLine } from '../../extension/text/format';
import { JOB_LAYERS, type JobDifference, type JobLayer, type JobRun, type JobView } from '../../extension/protocol/job';
import { formatWhen } from '../../extension/text/when';
import { nothingText } from '../../extension/text/jobText';
import type { ToJobHost, ToJobPage } from '../../extension/protocol/requests/jobMessages';
import { dropdown, openBelow, progressRing, registerComponents } from '../components';
import { button, el, icon, setText } from '../dom';
import { HeatMap } from './heatMap';

const vscode = acquireVsCodeApi();
const app = document.getElementById('app') ?? document.body;
registerComponents();

const post = (message: ToJobHost): void => vscode.postMessage(message);
const LAYERS: Record<JobLayer, string> = {
  peak: t('Peak allocated'),
  live: t('Allocated'),
  reserved: t('Reserved'),
  outside: t('Outside PyTorch'),
  foreign: t('Other processes'),
};
type Order = 'rank' | 'peak' | 'host';
const ORDERS: Record<Order, string> = { rank: t('By rank'), peak: t('Highest peak first'), host: t('By host') };

/** Runs beside each other, the newest. */
const RUNS = 5;

let job: JobView | null = null;
const choice: { layer: JobLayer; order: Order } = { layer: 'peak', order: 'rank' };
const entries = <K extends string>(texts: Record<K, string>): [K, string][] => Object.entries(texts) as [K, string][];

const title = el('h1', { 'data-value': 'job' }, progressRing(), ' ', t('Reading the job…'));
const layer = dropdown('layer', t('Cell value'), entries(LAYERS), value => choose({ layer: value }));
const order = dropdown('order', t('Rank order'), entries(ORDERS), value => choose({ order: value }));
openBelow(layer, order);
const facts = el('p', { class: 'dim', 'data-value': 'facts' });
const notes = el('ul', { class: 'notes' });
const differences = el('ul', { class: 'differences' });
const map = new HeatMap(rank => post({ type: 'openRank', key: rank.key }));
const legend = el('p', { class: 'dim legend', 'data-value': 'scale' });
const runs = el('section', { class: 'runs' });
const controls = el('div', { class: 'controls' }, layer.element, order.element);
const body = el('div', { class: 'job', hidden: true }, facts, notes, differences, controls, map.element, legend, runs);
app.append(title, body);

function choose(chosen: Partial<typeof choice>): void {
  Object.assign(choice, chosen);
  drawMap();
}

function drawMap(): void {
  if (job === null) return;
  const ranks = [...job.ranks].sort((a, b) =>
    choice.order === 'peak'
      ? b.peakBytes - a.peakBytes
      : choice.order === 'host' && a.host !== b.host
        ? a.host.localeCompare(b.host, undefined, { numeric: true })
        : a.rank - b.rank,
  );
  const { length } = ranks;
  const differing = new Set(job.differences.flatMap(({ ranks: of }) => (of.length < length ? of : [])));
  map.show(ranks, choice.layer, differing);
  const none = JOB_LAYERS.includes(choice.layer) && map.most === 0;
  setText(
    legend,
    none
      ? t('No data: no rank reported this.')
      : t(
          'Each row is a rank, and each column a range of steps. The strongest color is {0}. Outlier ranks are red.',
          formatBytes(map.most),
        ),
  );
}

function differenceItem({ kind, sentence, lines }: JobDifference): HTMLElement {
  const places = lines.map(({ file, line }) =>
    button('link', 'open-line', fileLine(file, line), () => post({ type: 'openLine', file, line })),
  );
  const mark = icon(kind === 'growth' ? 'error' : 'warning');
  return el('li', { 'data-kind': kind }, mark, ' ', sentence, ...places.flatMap(place => [' ', place]));
}

function runRow(run: JobRun, before: JobRun | undefined): HTMLElement {
  const change = before && before.peakBytes > 0 ? (run.peakBytes / before.peakBytes - 1) * 100 : null;
  const cells = [
    formatWhen(run.startedMs, document.documentElement.lang),
    [run.branch, run.commit.slice(0, 9)].filter(Boolean).join(' '),
    formatCount(run.ranks),
    formatBytes(run.peakBytes),
    change === null ? '' : `${change > 0 ? '+' : ''}${change.toFixed(1)}%`,
    run.bytesPerStep > 0 ? t('{0} per step at {1}', formatBytes(run.bytesPerStep), run.place) : '',
  ];
  const name = button('link', 'show-run', run.run, () => post({ type: 'showRun', run: run.run }));
  const chosen = run.run === job?.run;
  return el(
    'tr',
    { 'aria-current': chosen ? 'true' : null },
    el('th', { scope: 'row' }, name),
    ...cells.map(text => el('td', {}, text)),
  );
}

function table(heads: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  const head = el('tr', {}, ...heads.map(name => el('th', { scope: 'col' }, name)));
  return el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows));
}

function runTable(all: readonly JobRun[]): HTMLElement {
  const heads = [t('Run'), t('Started'), t('Version'), t('Ranks'), t('Peak'), t('Change'), t('Growth')];
  return table(
    heads,
    all.map((run, i) => runRow(run, all[i - 1])),
  );
}

/** What each line had at most at once in the newest runs, and how it grew. */
function trendTable({ trends, runs: all }: JobView): HTMLElement {
  const rows = trends.map(({ file, line, place, peakBytes, bytesPerStep }) => {
    const name = button('link', 'open-line', place, () => post({ type: 'openLine', file, line }));
    const cells = peakBytes.slice(-RUNS).map((bytes, i) => {
      const grows = bytesPerStep.slice(-RUNS)[i] ?? 0;
      const text = bytes === null ? '–' : formatBytes(bytes);
      return el('td', {}, grows > 0 ? t('{0}, +{1} per step', text, formatBytes(grows)) : text);
    });
    return el('tr', {}, el('th', { scope: 'row' }, name), ...cells);
  });
  return table([t('Peak by line'), ...all.slice(-RUNS).map(({ run }) => run)], rows);
}

function show(given: JobView): void {
  job = given;
  body.hidden = false;
  const { run, ranks, worldSize, simulated } = given;
  setText(title, t('Job {0}', run));
  const count = t('{0} of {1} ranks', formatCount(ranks.length), formatCount(Math.max(worldSize ?? 0, ranks.length)));
  const running = ranks.filter(({ live }) => live).length;
  const state = running > 0 ? t('{0} running', formatCount(running)) : t('all ended');
  setText(facts, [count, state, ...(simulated ? [t('simulated GPU')] : [])].join(' · '));
  notes.replaceChildren(...given.notes.map(note => el('li', {}, icon('info'), ' ', note)));
  const none = el('li', {}, icon('pass'), ' ', nothingText(ranks.length, t));
  const found = given.differences.map(differenceItem);
  differences.replaceChildren(...(found.length > 0 ? found : [none]));
  const several = given.runs.length > 1;
  const heading = el('h2', {}, t('Runs in this folder'));
  runs.replaceChildren(...(several ? [heading, runTable(given.runs), trendTable(given)] : []));
  layer.set(choice.layer);
  order.set(choice.order);
  drawMap();
}

addEventListener('message', ({ data }: MessageEvent<ToJobPage>) => {
  if (data.type === 'job') return show(data.job);
  title.replaceChildren(icon('error'), ' ', data.sentence);
});
post({ type: 'ready' });
