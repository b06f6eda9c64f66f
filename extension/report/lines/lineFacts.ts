// What stands beside a line of source: the bytes that its allocations hold.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount, lineName } from '../../text/format';
import type { ShownMoment } from '../../protocol/requests/moment';
import type { LineFacts } from '../../protocol/requests/engineRequests';
import { paceOf } from '../../text/pace';
import { siteRows, type SiteWindow } from '../../protocol/trace';
import type { Finding } from '../../protocol/verdicts';
import { blocksText } from '../../analysis/words';

/** What a line has of a leak. */
export interface LineLeak {
  finding: Finding;
  /** Path of the file in which the editor shows the leak at this line; null: the line only allocates for it. */
  shownIn: string | null;
  /** The line, from 1, and the growth of what it allocates; where the leak is shown, all of its growth. */
  line: number;
  bytesPerStep: number;
  /** Its fix is in the source: the growth is that of the run before. */
  fixed: boolean;
}

/** Lines by file, as the trace names it. */
export function factsByFile(window: SiteWindow): Map<string, LineFacts[]> {
  const files = new Map<string, LineFacts[]>();
  for (const row of siteRows(window)) {
    const { file, line } = row;
    if (file === '' || file.startsWith('<') || line === 0) continue;
    const facts = { ...row, spark: [...row.spark], name: `${file}:${line}` };
    files.set(file, [...(files.get(file) ?? []), facts]);
  }
  return files;
}

/** The lines of the whole run, with what was alive at a moment; `then`: as they were at that. */
export function asOf(then: readonly LineFacts[], whole: readonly LineFacts[]): LineFacts[] {
  const lines = new Map(then.map(facts => [facts.line, facts]));
  return whole.map(facts => {
    const { liveBytes = 0, liveCount = 0, spark = facts.spark } = lines.get(facts.line) ?? {};
    return { ...facts, liveBytes, liveCount, spark };
  });
}

/** Narrows a question to rows that may be of this file; there may be others among them. */
export function fileFilter(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const words = name.split(/\s+/).filter(word => !/^(age)?[<>]/i.test(word));
  return words.join(' ');
}

/**
 * `1.21 GiB`; a line that holds nothing has its peak. Where its leak is shown, `+30.20 MiB per step · holds 1.40 GiB (step 30)`, the figures of the
 * leak's card, which other lines allocate; at these, and at a chosen moment, their own ones. Which moment is shown stands in the hover and on the page, not on each line.
 */
export function lineText(
  { name, liveBytes, peakBytes }: LineFacts,
  leak: LineLeak | null,
  { isChosen }: Pick<ShownMoment, 'isChosen'>,
): string {
  const own = leak?.shownIn === null ? { bytesPerStep: leak.bytesPerStep } : {};
  const [grows] = leak === null ? [] : paceOf({ ...leak.finding, ...own }, t);
  const rate = grows !== undefined && leak?.fixed === true ? t('{0} before the fix', grows) : grows;
  const withRate = (bytes: string): string => (rate === undefined ? bytes : `${rate} · ${bytes}`);
  if (leak !== null && leak.shownIn !== null && !isChosen) return withRate(heldAtLine(leak));
  // A line whose only allocation failed had nothing.
  if (liveBytes === 0 && peakBytes === 0) return rate ?? '';
  const bytes = withRate(liveBytes > 0 ? formatBytes(liveBytes) : t('peak {0}', formatBytes(peakBytes)));
  const holder = leak === null || leak.fixed ? null : leak.finding.holder;
  const at = holder ? lineName(holder) : null;
  return at === null || name.startsWith(`${holder?.file}:`) ? bytes : t('{0} · held at {1}', bytes, at);
}

/** The bytes of the whole leak, which are of the end of a step. */
function heldAtLine({ finding: { bytes, bytesAtStep, holder }, line }: LineLeak): string {
  const held = formatBytes(bytes);
  const holds = holder?.line === line ? t('holds {0}', held) : t('leak holds {0}', held);
  return bytesAtStep === null ? holds : t('{0} (step {1})', holds, formatCount(bytesAtStep));
}

/** From 0 to `levels` - 1: how much a line holds of what the biggest one holds, by powers of four. */
export function heatOf(bytes: number, mostBytes: number, levels: number): number {
  if (bytes <= 0 || mostBytes <= 0) return 0;
  return Math.max(0, levels - 1 - Math.floor(Math.log2(mostBytes / bytes) / 2));
}

/** Lines of a hover, without its picture. `besideProblem`: its problem, which names the leak, stands in the same hover. */
export function hoverLines(
  facts: LineFacts,
  leak: LineLeak | null,
  { when, isChosen }: Omit<ShownMoment, 'moment' | 'bytes'>,
  besideProblem = false,
): string[] {
  const { liveBytes, liveCount, peakBytes, allocations, frees } = facts;
  const [live, peak] = [formatBytes(liveBytes), formatBytes(peakBytes)];
  const blocks = when === null ? blocksText(liveCount) : `${blocksText(liveCount)} ${when}`;
  const alive = t('{0} alive in {1}, peak {2}', live, blocks, peak);
  const growth = leak === null || leak.fixed || besideProblem ? [] : [leak.finding.title];
  // The end of the line has the bytes of the whole leak.
  if (!isChosen && leak !== null && leak.shownIn !== null && leak.finding.bytes !== liveBytes)
    growth.push(heldText(leak.finding));
  if (allocations === 0) return growth;
  return [alive, ...growth, t('{0} allocations, {1} frees', formatCount(allocations), formatCount(frees))];
}

function heldText({ bytes, count, bytesAtStep }: Finding): string {
  const held = [formatBytes(bytes), blocksText(count)] as const;
  return bytesAtStep === null
    ? t('This leak keeps {0} in {1}', ...held)
    : t('This leak keeps {0} in {1} at the end of step {2}', ...held, formatCount(bytesAtStep));
}
