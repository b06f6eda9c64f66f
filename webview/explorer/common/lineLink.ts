import { button, type Attributes } from '../../dom';
import { baseName } from './stack';

/** A button with the name of a line that opens it. `more`: attributes besides. */
export function lineLink(
  { file, line }: { file: string; line: number },
  openLine: (file: string, line: number) => void,
  more: Attributes = { 'data-file': file, 'data-line': line },
  text = `${baseName(file)}:${line}`,
): HTMLElement {
  return button('link', null, text, () => openLine(file, line), { title: `${file}:${line}`, ...more });
}
