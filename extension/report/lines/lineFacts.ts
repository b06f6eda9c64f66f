// What stands beside a line of source: the bytes that its allocations hold.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import type { LineFacts } from '../../protocol/requests/engineRequests';
import { siteRows, type SiteWindow } from '../../protocol/trace';
import { blocksText } from '../../analysis/words';

/** Lines by file, as the trace names it. `perStep`: growth of a line, by file and line. */
export function factsByFile(
  window: SiteWindow,
  perStep: (file: string, line: number) => number,
): Map<string, LineFacts[]> {
  const files = new Map<string, LineFacts[]>();
  for (const row of siteRows(window)) {
    const { file, line } = row;
    if (file === '' || file.startsWith('<') || line === 0) continue;
    const facts = { ...row, bytesPerStep: perStep(file, line), spark: [...row.spark], name: `${file}:${line}` };
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
 * `1.21 GB · +30.20 MB a step`; a line that holds nothing has its peak. `when`: the moment of the bytes (`at the end of step 200`),
 * null: of this one.
 */
export function lineText({ liveBytes, peakBytes, bytesPerStep }: LineFacts, when: string | null): string {
  const held = when === null ? formatBytes(liveBytes) : `${formatBytes(liveBytes)} ${when}`;
  const bytes = liveBytes > 0 ? held : t('peak {0}', formatBytes(peakBytes));
  return bytesPerStep > 0 ? t('{0} · +{1} a step', bytes, formatBytes(bytesPerStep)) : bytes;
}

/** From 0 to `levels` - 1: how much a line holds of what the biggest one holds, by powers of four. */
export function heatOf(bytes: number, mostBytes: number, levels: number): number {
  if (bytes <= 0 || mostBytes <= 0) return 0;
  return Math.max(0, levels - 1 - Math.floor(Math.log2(mostBytes / bytes) / 2));
}

/** Lines of a hover, without its picture. */
export function hoverLines(facts: LineFacts, when: string | null): string[] {
  const { liveBytes, liveCount, peakBytes, bytesPerStep, allocations, frees } = facts;
  const [live, peak] = [formatBytes(liveBytes), formatBytes(peakBytes)];
  const blocks = when === null ? blocksText(liveCount) : `${blocksText(liveCount)} ${when}`;
  const alive = t('{0} alive in {1}, peak {2}', live, blocks, peak);
  const growth = bytesPerStep > 0 ? [t('Grows by {0} a step', formatBytes(bytesPerStep))] : [];
  return [alive, ...growth, t('{0} allocations, {1} frees', formatCount(allocations), formatCount(frees))];
}
