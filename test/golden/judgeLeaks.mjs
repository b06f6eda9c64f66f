// A report of a planted case against what expect.json says of it: `verdict` leak, none or oom, `site` and `holder` its lines,
// `holderPath` a part of the path that must be named.
import { basename } from 'node:path';

const isLeak = finding => finding.verdict === 'leak' || (finding.verdict === 'oom' && finding.cause === 'leak');

function linesOf(finding, report, file) {
  const frames = finding.sites.map(id => report.sites.find(site => site.id === id)?.userFrame);
  return frames.filter(frame => basename(frame?.file ?? '') === file).map(frame => frame.line);
}

/** How the findings of `report` on the script `file` meet `expected`; null where nothing is expected. */
export function judgeLeaks(file, expected, report) {
  const leaks = report.findings.filter(isLeak);
  const lines = leaks.map(finding => linesOf(finding, report, file));
  const main = leaks[lines.findIndex(own => own.includes(expected.site))] ?? leaks[0];
  const holder = main?.holder ?? null;
  const has = (wanted, right) => (wanted === undefined ? null : right);
  return {
    got: report.oom?.length ? 'oom' : leaks.length > 0 ? 'leak' : 'none',
    titles: leaks.map(finding => finding.title),
    sinceStep: main?.sinceStep ?? null,
    period: main?.period ?? null,
    site: has(expected.site, main !== undefined && linesOf(main, report, file).includes(expected.site)),
    holder: has(expected.holder, holder?.line === expected.holder),
    path: has(expected.holderPath, (holder?.path ?? '').includes(expected.holderPath)),
    holderText: holder === null ? '' : `${holder.path} (line ${holder.line})`,
  };
}
