// The whole terminal for what is alive, with keys, in the manner of htop. Written by hand: what is drawn is a list of lines that
// fit already, and libraries for screens (ink with React, terminal-kit) draw through Node.js's own streams, which the command
// line stays away from, and would be the biggest part of its bundle.
import { readText } from '../../files/files';
import { emitKeypressEvents } from 'node:readline';
import { isatty, ReadStream } from 'node:tty';
import type { LiveChoice, LiveSize, LiveView } from '../../report/tables/liveView';
import { escapeForTerminal } from '../../text/escapeForTerminal';
import { holdSentences, terminalSize, write } from '../output/output';
import { type Key, Keys } from './liveKeys';

const ENTER = '\x1b[?1049h\x1b[?25l';
/** Gives the terminal back what it showed before. */
export const LEAVE = '\x1b[?25h\x1b[?1049l';
const STYLES = { plain: '', strong: '\x1b[1m', warning: '\x1b[33m', alarm: '\x1b[1;31m', help: '\x1b[7m' };
/** What the terminal itself would do at these keys, to all that runs in its foreground. */
const SIGNALS: Record<string, NodeJS.Signals> = { c: 'SIGINT', '\\': 'SIGQUIT' };

/** What is printed on stderr while the program runs. */
export interface Live {
  show(): void;
  /** Gives the terminal back as it was. */
  stop(): void;
}

/** Whether the whole terminal may be drawn on: keys come from it, and it is ours at this moment. */
export function canTakeScreen(): boolean {
  return isatty(0) && terminalSize(2) !== null && process.env.TERM !== 'dumb' && inForeground();
}

/** Draws `view` on the whole terminal. `quit` is called when the view was left by a key. */
export function createFullScreen(view: (size: LiveSize, choice: LiveChoice) => LiveView, quit: () => void): Live {
  const keys = new Keys();
  const input = new ReadStream(0);
  let list = { rows: 0, page: 0 };
  let release: (() => void) | null = null;

  const show = (): void => {
    if (release === null && !closed && inForeground()) release = enter(input);
    const size = terminalSize(2);
    if (release === null || size === null) return;
    const room = { rows: size.rows - 1, columns: size.columns };
    let shown = view(room, keys.choice);
    if (keys.fit(shown)) shown = view(room, keys.choice);
    list = shown;
    draw([...shown.lines, { text: keys.line, style: 'help' }], size);
  };
  const leave = (): void => {
    release?.();
    release = null;
  };
  const stop = (): void => {
    closed = true;
    leave();
    process.off('SIGWINCH', show);
    input.destroy();
  };
  const press = (_: unknown, key: Key): void => {
    const signal = key.ctrl ? SIGNALS[key.name ?? ''] : undefined;
    if (signal !== undefined) process.kill(0, signal);
    else if (key.ctrl && key.name === 'z') suspend(leave, show);
    else if (keys.press(key, list)) show();
    else {
      stop();
      quit();
    }
  };
  let closed = false;
  emitKeypressEvents(input);
  input.on('keypress', press);
  process.on('SIGWINCH', show);
  show();
  return { show, stop };
}

/** Takes the screen and the keys; gives what undoes that. */
function enter(input: ReadStream): () => void {
  const release = holdSentences();
  input.setRawMode(true);
  input.resume();
  write(2, ENTER);
  return () => {
    write(2, LEAVE);
    input.setRawMode(false);
    input.pause();
    release();
  };
}

/** The line margin is off while lines are drawn: letters of double width would break them. */
function draw(lines: readonly { text: string; style: keyof typeof STYLES }[], { rows, columns }: LiveSize): void {
  let text = '\x1b[?7l';
  const help = lines.length - 1;
  lines.forEach((line, i) => {
    const row = i === help ? rows : i + 1;
    const coloured = line.style === 'alarm' || line.style === 'warning';
    const style = coloured && process.env.NO_COLOR ? STYLES.strong : STYLES[line.style];
    const cells = i === help ? escapeForTerminal(line.text).padEnd(columns) : escapeForTerminal(line.text);
    // Wiped first: behind a full row the cursor stays on its last letter.
    text += `\x1b[${row};1H\x1b[K${style}${cells}\x1b[m`;
    if (i === help - 1 && row < rows - 1) text += `\x1b[${row + 1};1H\x1b[J`;
  });
  write(2, `${text}\x1b[?7h`);
}

/** Ctrl+Z: all that runs in the foreground stops, and the shell has its screen; what follows runs when they continue. */
function suspend(leave: () => void, show: () => void): void {
  leave();
  process.kill(0, 'SIGTSTP');
  setImmediate(show);
}

/** Whether the terminal is this process group's; to change its mode from behind would stop us. */
function inForeground(): boolean {
  const stat = readText('/proc/self/stat');
  const [, , group, , , owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group === owner;
}
