// A report of a planted case against what expect.json says of it: `verdict` leak, none or oom, `site` and `holder` its lines (of several one),
// `holderPath` a part of the path that must be named (`a|b`: one of these).
import { basename } from 'node:path';

const isLeak = finding => finding.verdict === 'leak' || (finding.verdict === 'oom' && finding.cause === 'leak');
const isNamed = finding => isLeak(finding) || ['rising', 'rose'].includes(finding.verdict);

function linesOf(finding, report, file) {
  const frames = finding.sites.map(id => report.sites.find(site => site.id === id)?.userFrame);
  return frames.filter(frame => basename(frame?.file ?? '') === file).map(frame => frame.line);
}

/** How the findings of `report` on the script `file` meet `expected`; null where nothing is expected. `early`: growth that may still be
 * something that fills counts as well. */
export function judgeLeaks(file, expected, report, early = false) {
  const leaks = report.findings.filter(early ? isNamed : isLeak);
  const lines = leaks.map(finding => linesOf(finding, report, file));
  const isSite = line => [expected.site].flat().includes(line);
  const main = leaks[lines.findIndex(own => own.some(isSite))] ?? leaks[0];
  const holder = main?.holder ?? null;
  const has = (wanted, right) => (wanted === undefined ? null : right);
  return {
    got: report.oom?.length ? 'oom' : leaks.length > 0 ? 'leak' : 'none',
    titles: leaks.map(finding => finding.title),
    sinceStep: main?.sinceStep ?? null,
    period: main?.period ?? null,
    site: has(expected.site, main !== undefined && linesOf(main, report, file).some(isSite)),
    holder: has(expected.holder, [expected.holder].flat().includes(holder?.line)),
    path: has(
      expected.holderPath,
      (expected.holderPath ?? '').split('|').some(path => (holder?.path ?? '').includes(path)),
    ),
    holderText: holder === null ? '' : `${holder.path} (line ${holder.line})`,
  };
}
