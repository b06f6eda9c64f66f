// Texts with long names of files and with figures: a name wraps or is cut, the number behind it and a figure's unit stay whole.
import { el } from '../../dom';

/** A line of a file (`train.py:12`), a figure and its unit, or a step and its number. */
const PARTS = /([^\s:()]+\.\w+)(:\d+)|[+\u2212]?\d[\d.,]* (?:[KMGTP]i)?B\b(?:\/s)?|\bsteps? \d[\d,]*/g;

/** `train.py` and `:12`; without a number the second is empty. */
export function splitName(name: string): [string, string] {
  const at = name.search(/: ?\d+$/);
  return at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at)];
}

/** The name of a line where it has one row: what does not fit is cut in front of the number. */
export function oneLineName(name: string | [string, string]): HTMLElement {
  const [file, at] = typeof name === 'string' ? splitName(name) : name;
  const primary = el('span', { class: 'primary' });
  setName(primary, file);
  return el('span', { class: 'place' }, primary, el('span', { class: 'at' }, at));
}

/** As `setText`, for a name of a file that is cut where it has no room: its ending goes as a whole, so that three dots do not follow its own. */
export function setName(element: Element, name: string): void {
  if (element.textContent === name) return;
  const [, stem, ending = '', rest = ''] = /^(.+?)(\.\w+)?( .*)?$/s.exec(name) ?? ['', ''];
  element.replaceChildren(stem ?? '', ...(ending ? [el('span', { class: 'ending' }, ending)] : []), rest);
}

/** As `setText`, for a function: where its name is cut, the class goes before the method. */
export function setFunction(element: Element, name: string): void {
  if (element.textContent === name) return;
  const at = name.lastIndexOf('.') + 1;
  const parts = [name.slice(0, at), name.slice(at)].map(part => el('span', {}, part));
  element.replaceChildren(at > 0 ? el('span', { class: 'qualified' }, ...parts) : name);
}

/** A sentence that wraps: a name only where it is longer than a line, at its underscores first. */
export function wrapped(text: string): (Node | string)[] {
  const found: (Node | string)[] = [];
  let end = 0;
  for (const { 0: part, 1: name, 2: number, index } of text.matchAll(PARTS)) {
    found.push(text.slice(end, index));
    const whole = el('span', { class: 'unbroken' }, number ?? part);
    found.push(name === undefined ? whole : el('span', { class: 'named' }, nameOf(name), whole));
    end = index + part.length;
  }
  return [...found, text.slice(end)].filter(part => part !== '');
}

function nameOf(name: string): HTMLElement {
  return el('span', { class: 'primary' }, ...broken(name, /(?<=_)/));
}

/** A line may end at these places. */
const broken = (text: string, at: RegExp): (Node | string)[] =>
  text.split(at).flatMap((part, i) => (i === 0 ? [part] : [el('wbr'), part]));

const CODE = /`([^`]+)`/;

/** Code is broken before a member and behind an opening bracket, not inside a word. */
const CODE_BREAK = /(?=\.[A-Za-z_])|(?<=[([,=])(?![)\]=])/;

export const codeElement = (text: string, attributes: Record<string, string> = {}): HTMLElement =>
  el('code', attributes, ...broken(text, CODE_BREAK));

/** The same; what stands between backticks is code. */
export function withCode(sentence: string): (Node | string)[] {
  return sentence.split(CODE).flatMap((part, i) => (i % 2 === 1 ? [codeElement(part)] : wrapped(part)));
}

/** Where only text has room. */
export function withoutCode(sentence: string): string {
  return sentence.split(CODE).join('');
}

/** As `setText`, for a sentence that wraps. */
export function setWrapped(element: Element, text: string): void {
  if (element.textContent !== withoutCode(text)) element.replaceChildren(...withCode(text));
}
