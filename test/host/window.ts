// The actions of a test in the extension host on the window around it: the driver (test/workbench/driver.mjs) does them there.
import { existsSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.DRIVER_FOLDER ?? '';
let requests = 0;

/** A row of the page's table, as it stands in its DOM. */
export interface Row {
  row: string;
  file: string;
  line: number;
  cells: Record<string, string>;
}

const ANSWER_MS = 90_000;

/** Resolves once the file is there, which is not there yet. */
function appears(file: string, what: string): Promise<void> {
  return new Promise((done, fail) => {
    const watcher = watch(folder, () => existsSync(file) && ended());
    const late = setTimeout(() => ended(new Error(`Waited ${ANSWER_MS / 1000} s for ${what}.`)), ANSWER_MS);
    const ended = (error?: Error): void => {
      watcher.close();
      clearTimeout(late);
      if (error) fail(error);
      else done();
    };
  });
}

export async function drive<T>(action: string, parameters: object = {}): Promise<T> {
  const name = join(folder, String(++requests));
  writeFileSync(`${name}.part`, JSON.stringify({ action, ...parameters }));
  const arrived = appears(`${name}.answer.json`, `an answer to ${action}`);
  renameSync(`${name}.part`, `${name}.request.json`);
  await arrived;
  const answer = JSON.parse(readFileSync(`${name}.answer.json`, 'utf8')) as { value: T; error?: string };
  rmSync(`${name}.answer.json`);
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.value;
}

/** A picture of the window, kept for people to look at. */
export const shot = (file: string): Promise<void> => drive('shot', { file });
/** The rows that the page shows now; rejects when there is none within `wait` milliseconds. */
export const rows = (wait = 5000): Promise<Row[]> => drive('rows', { wait });
/** A click, with another button or while keys are held. */
export const click = (
  selector: string,
  how: {
    button?: 'left' | 'right';
    modifiers?: ('Shift' | 'Control')[];
    position?: { x: number; y: number };
  } = {},
): Promise<void> => drive('click', { selector, how });
/** A click at a place of the element, pixels from its corner. */
export const clickAt = (selector: string, x: number, y: number, double = false): Promise<void> =>
  drive('click', { selector, position: { x, y }, double });
/** Rests the mouse on an element. */
export const hover = (selector: string): Promise<void> => drive('hover', { selector });
export const press = (selector: string, key: string): Promise<void> => drive('press', { selector, key });
/** Drags from one part of the element's width to another, while `key` is held. */
export const drag = (selector: string, from: number, to: number, key = ''): Promise<void> =>
  drive('drag', { selector, from, to, key });
export const wheel = (selector: string, at: number, by: number): Promise<void> => drive('wheel', { selector, at, by });
/** What stands in a field. */
export const value = (selector: string): Promise<string> => drive('value', { selector });
export const fill = (selector: string, text: string): Promise<void> => drive('fill', { selector, text });
/** The texts of all elements that match, in the window or in a webview. */
export const texts = (selector: string, wait = 5000): Promise<string[]> => drive('texts', { selector, wait });
/** The same as one text. */
export const words = async (selector: string): Promise<string> => (await texts(selector)).join('\n');
/** From now on notes the text of the first element of each selector, all at one moment, in the page of `selector`, for `watched`. */
export const watchTexts = (selector: string, selectors: string[]): Promise<void> =>
  drive('watchTexts', { selector, selectors });
export const watched = (selector: string): Promise<string[][]> => drive('watched', { selector });
/** Waits until the elements have that text; what they have instead is in the error. */
export const shows = (selector: string, expected: RegExp): Promise<string> =>
  until(`${selector} to read ${expected}`, async () => {
    const text = await words(selector);
    if (expected.test(text)) return text;
    throw new Error(`It says: ${text}`);
  });
/** What style rules put behind the elements. */
export const behind = (selector: string, wait = 5000): Promise<string[]> => drive('behind', { selector, wait });
/** What a property of their style comes out as, of each element. */
export const styles = (selector: string, property: string, wait = 5000): Promise<string[]> =>
  drive('styles', { selector, property, wait });
/** What axe-core finds wrong inside the element by these rules, or by all of them, a line each. */
export const violations = (selector: string, rules?: string[]): Promise<string[]> =>
  drive('violations', { selector, rules });
/** Real time (ms) at which the page of the selector first painted something: one that was loaded again has a later one. */
export const painted = (selector: string): Promise<number> => drive('painted', { selector });
/** Waits until nothing moves or changes in the page of the selector any more. */
export const rest = (selector: string): Promise<void> => drive('rest', { selector });
/** Presses keys wherever the focus is. */
export const keys = (...all: string[]): Promise<void> => drive('keys', { keys: all });
/** What has the focus in the page of the selector, and whether that can be seen; null: nothing in that page. */
export const focused = (selector: string): Promise<{ name: string; seen: boolean } | null> =>
  drive('focused', { selector });
/** What moves in the page of the selector, for a user who wants reduced motion or for any. */
export const motions = (selector: string, reduced: boolean): Promise<string[]> =>
  drive('motions', { selector, reduced });
export const attribute = (selector: string, name: string): Promise<string | null> =>
  drive('attribute', { selector, name });

const PROBE_MS = 100;

/** Waits until `probe` gives something, and names what it waited for when it does not. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  milliseconds = 90_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + milliseconds;
  let last: unknown = '';
  for (;;) {
    try {
      const value = await probe();
      if (value) return value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`Waited ${milliseconds / 1000} s for ${what}. ${String(last)}`);
    await new Promise(done => setTimeout(done, PROBE_MS));
  }
}

/** Where VS Code lets choose or enter something. */
const PICKER = '.quick-input-widget:not([style*="display: none"]) input[type=text]';
/** Closes it without a choice. One that has only just appeared takes no Escape yet. */
export const dismissPicker = (): Promise<unknown> =>
  until('the picker to close', async () => {
    await press(PICKER, 'Escape').catch(() => undefined);
    return (await texts(PICKER, 100).catch(() => [])).length === 0;
  });
