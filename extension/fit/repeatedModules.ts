import { categoryOf, type RecordedRun } from './recordedRun';

// Modules that are one of many alike, such as the layers of a transformer.

/** The paths of modules that are one of many alike: `layers.3` of `layers.3.mlp.up`. Each with its activations' bytes, the biggest first. */
export function repeatedModules(run: RecordedRun): { pattern: string; count: number }[] {
  const bytes = new Map<string, number>();
  const members = new Map<string, Set<string>>();
  const own = run.modules.map(path => /^((?:.*?\.)?)(\d+)(?=\.|$)/.exec(path));
  for (let at = 0; at < run.count; at++) {
    const found = own[run.module[at] ?? 0];
    if (found === undefined || found === null || categoryOf(run, at) !== 'activation') continue;
    const [whole, list = ''] = found;
    const pattern = `${list}*`;
    bytes.set(pattern, (bytes.get(pattern) ?? 0) + (run.bytes[at] ?? 0));
    members.set(pattern, (members.get(pattern) ?? new Set()).add(whole));
  }
  return [...bytes]
    .map(([pattern, sum]) => ({ pattern, count: members.get(pattern)?.size ?? 0, sum }))
    .filter(({ count }) => count > 1)
    .toSorted((a, b) => b.sum - a.sum);
}

/** By module, the path of the one that fits a pattern and that it is or is inside of, such as `layers.*`, or `layers.*:2`, every second one. */
export function membersOf(run: RecordedRun, pattern: string): (string | undefined)[] {
  const [, path = '', every = '1'] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  const wanted = new RegExp(`^${path.split('*').map(escaped).join('[^.]*')}(?=\\.|$)`);
  const own = run.modules.map(module => wanted.exec(module)?.[0]);
  const all = [...new Set(own)].filter(member => member !== undefined);
  const kept = new Set(all.filter((_, at) => at % Math.max(1, Number(every)) === 0));
  return own.map(member => (member !== undefined && kept.has(member) ? member : undefined));
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
