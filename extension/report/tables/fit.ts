import { lengthOf } from '../../text/textColumns';

// Lines for a terminal of a given width: what sets places apart gives way last. Widths are in characters.
const MORE = '…';
/** A function keeps this much of its head while its file can still give way. */
const FUNCTION_HEAD = 14;
const LEAST_FILE = 9;
const HANGING = 4;

/**
 * `train.py:41 Model.forward` in so many characters: the end of the function gives way, then the middle of the path; the
 * number of the line never does.
 */
export function fitLabel(label: string, width: number): string {
  if (lengthOf(label) <= width) return label;
  const [, file = '', line = '', rest = ''] = /^(.+?)(:\d+)( .*)?$/.exec(label) ?? [];
  if (file === '') return label.startsWith('/') ? fitPath(label, width) : fitEnd(label, width);
  const room = width - lengthOf(line);
  const path = fitPath(file, Math.max(LEAST_FILE, room - Math.min(lengthOf(rest), FUNCTION_HEAD)));
  return path + line + fitEnd(rest, room - lengthOf(path));
}

/** `/home/me/models/train.py` as `…/models/train.py`; a name that is too long by itself as `train_wi…arge.py`. */
export function fitPath(path: string, width: number): string {
  if (lengthOf(path) <= width) return path;
  for (let slash = path.indexOf('/', 1); slash >= 0; slash = path.indexOf('/', slash + 1))
    if (lengthOf(path) - slash + 1 <= width) return MORE + path.slice(slash);
  const letters = [...path.slice(path.lastIndexOf('/') + 1)];
  const tail = Math.floor((width - 1) / 2);
  if (letters.length <= width) return letters.join('');
  return [...letters.slice(0, width - 1 - tail), MORE, ...letters.slice(letters.length - tail)].join('');
}

/** The text, or its head and `…`; nothing where there is no room for that. */
export function fitEnd(text: string, width: number): string {
  if (lengthOf(text) <= width) return text;
  return width < 2
    ? ''
    : [...text]
        .slice(0, width - 1)
        .join('')
        .trimEnd() + MORE;
}

/** The line in pieces that fit, broken between words; a piece of code stays whole, so that it can be copied. */
export function wrapLine(line: string, width: number): string[] {
  if (lengthOf(line) <= width) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let now = indent;
  for (const word of line.match(/`[^`]*`\S*|\S+/g) ?? []) {
    const spaced = now.trim() === '' ? now + word : `${now} ${word}`;
    if (now.trim() === '' || lengthOf(spaced) <= width) now = spaced;
    else {
      lines.push(now);
      now = indent + ' '.repeat(HANGING) + word;
    }
  }
  return [...lines, now];
}

/** The same where nothing may be longer: what does not fit as a whole continues in the next line. */
export function wrapTightly(line: string, width: number): string[] {
  return wrapLine(line, width).flatMap(each => piecesOf(each, width));
}

function piecesOf(text: string, most: number): string[] {
  const letters = [...text];
  const starts = Array.from({ length: Math.ceil(letters.length / most) }, (_, i) => i * most);
  return starts.map(at => letters.slice(at, at + most).join(''));
}
