import { t } from '@vscode/l10n';
import { baseName } from '../../protocol/format';
import { libraryName } from '../../protocol/libraryName';
import type { Frame, LineSource, Site } from '../../protocol/trace';

/** The frame a reader wants to see first: the user's own, else the innermost; null without Python. */
export function namedFrame(site: Site | null): Frame | null {
  if (site === null || site.frames.length === 0) return null;
  return site.frames[site.userFrame] ?? site.frames[0] ?? null;
}

/** `train.py:41 forward`, with a word on how the line was found where it is not the line that ran. */
export function siteText(site: Site | null): string {
  const frame = namedFrame(site);
  if (site?.source === 'before-attach' && frame === null) return t('(before attach)');
  if (site === null || frame === null) return site?.library ? libraryName(site.library) : t('(no Python line)');
  const line = frame.line > 0 ? `:${frame.line}` : ''; // native functions have none
  return `${baseName(frame.file)}${line} ${frame.function}${sourceText(site.source)}`.trimStart();
}

function sourceText(source: LineSource): string {
  switch (source) {
    case 'forward':
      return t(' (its backward)');
    case 'forward-near':
      return t(' (its backward, nearest line)');
    case 'backward-call':
      return t(' (called backward)');
    case 'before-attach':
      return t(' (before the recording)');
    case 'python':
    case 'none':
      return '';
  }
}
