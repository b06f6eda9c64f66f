import { button, type Attributes } from '../../dom';
import { fileLine } from '../../../extension/text/format';
import { wrapped } from './named';
import type { RowFocus } from './rowKeys';

export type OpenLine = (file: string, line: number, focus?: RowFocus) => void;

/** A button with the name of a line that opens it. `more`: attributes besides. */
export function lineLink(
  { file, line }: { file: string; line: number },
  openLine: OpenLine,
  more: Attributes = { 'data-file': file, 'data-line': line },
  text = fileLine(file, line),
): HTMLElement {
  return button('link', null, wrapped(text), () => openLine(file, line), { title: `${file}:${line}`, ...more });
}
