// A Python stack as it is shown: library frames folded between the user's own.
import { t } from '@vscode/l10n';
import { baseName } from '../../../extension/text/format';
import type { Frame } from '../../../extension/protocol/trace';

export type StackItem =
  | { kind: 'frame'; frame: Frame; library: boolean }
  | { kind: 'folded'; frames: Frame[]; label: string };

const LIBRARY = /\/(?:site-packages|dist-packages)\/|\/lib(?:64)?\/python\d[^/]*\/|^<(?!stdin|ipython|string)/;

/** Outside the user's own code: installed packages, the standard library, frozen modules. */
export function isLibrary(file: string): boolean {
  return LIBRARY.test(file);
}

/** Runs of two or more library frames become one item; order stays innermost first. */
export function foldFrames(frames: readonly Frame[]): StackItem[] {
  const items: StackItem[] = [];
  let run: Frame[] = [];
  const flush = (): void => {
    if (run.length === 1) items.push({ kind: 'frame', frame: run[0]!, library: true });
    else if (run.length > 1) items.push({ kind: 'folded', frames: run, label: foldedLabel(run) });
    run = [];
  };
  for (const frame of frames) {
    if (isLibrary(frame.file)) {
      run.push(frame);
      continue;
    }
    flush();
    items.push({ kind: 'frame', frame, library: false });
  }
  flush();
  return items;
}

/** A stack as text, as Python prints one: outermost first. */
export function stackText(frames: readonly Frame[]): string {
  return frames
    .toReversed()
    .map(({ file, line, function: name }) => `  File "${file}", line ${line}, in ${name}`)
    .join('\n');
}

function foldedLabel(frames: readonly Frame[]): string {
  const names = new Set(frames.map(frame => packageName(frame.file)));
  const shown = [...names].slice(0, 2).join(', ');
  return t('{0} frames in {1}{2}', frames.length, shown, names.size > 2 ? ', …' : '');
}

/** The package that a library's file belongs to, else the file's name. */
export function packageName(file: string): string {
  const installed = /\/(?:site-packages|dist-packages)\/([^/]+)/.exec(file);
  const name = installed ? installed[1]! : baseName(file);
  return name.replace(/\.pyc?$/, '');
}
