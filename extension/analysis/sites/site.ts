import { t } from '@vscode/l10n';
import { fileLine } from '../../text/format';
import { libraryName } from '../../text/libraryName';
import type { Frame, LineSource, Site, TraceSource } from '../../protocol/trace';
import type { FindingPlace } from '../../protocol/verdicts';

const SOURCES: Record<LineSource, string> = {
  forward: t(' (its backward)'),
  'forward-near': t(' (its backward, nearest line)'),
  'backward-call': t(' (called backward)'),
  'before-attach': t(' (allocated before recording)'),
  python: '',
  none: '',
};

/** The most useful frame for a reader: the user's own, else the innermost; null without Python. */
export function namedFrame(site: Site | null): Frame | null {
  if (site === null || site.frames.length === 0) return null;
  return site.frames[site.userFrame] ?? site.frames[0] ?? null;
}

/** Where a site's line is in a finding. */
export function placeOf(source: TraceSource, site: number, bytesPerStep = 0): FindingPlace | null {
  const frame = namedFrame(source.site(site));
  return frame === null ? null : { site, ...frame, bytesPerStep };
}

/** `train.py:41 forward`, with a word on how the line was found where it is not the line that ran. */
export function siteText(site: Site | null): string {
  const frame = namedFrame(site);
  if (site?.source === 'before-attach' && frame === null) return t('(allocated before recording)');
  if (site === null || frame === null) return site?.library ? libraryName(site.library) : t('(no Python line)');
  return `${fileLine(frame.file, frame.line)} ${frame.function}${SOURCES[site.source]}`.trimStart();
}

/** The line within a sentence, `train.py:41 (train)`: bare, the function would read as a word of it. `train.py:41` if there is no function. */
export function inSentence(line: string): string {
  if (line === t('(no Python line)')) return t('a place without a Python line');
  return line
    .replace(' <module>', '')
    .replace(/(:\d+) ([^ ()]+)(?: \((.+)\))?$/, (_, at: string, name: string, how?: string) => {
      return `${at} (${how === undefined ? name : `${name}, ${how}`})`;
    });
}
