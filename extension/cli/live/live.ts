import { verdictsOf } from '../../analysis/findings/verdictCache';
import { liveView, type LiveChoice, type LiveSize, type LiveView } from '../../analysis/report/liveView';
import type { NativeSession } from '../../engine/addon';
import { createLineReader } from '../../engine/sourceLines';
import { terminalSize, write } from '../report/output';
import { createFullScreen, type Live } from './fullScreen';
import { createNews } from './news';
import { TerminalTable } from './terminalTable';

export interface LiveOptions {
  /** What is watched, in words. */
  title: string;
  /** When that began. */
  startedMs: number;
  /** Nobody else writes to this terminal or reads from it (`canTakeScreen`). */
  wholeScreen: boolean;
  /** The user left the view. */
  quit(): void;
}

const MIN_ROWS = 18;

/** The whole terminal where it is ours alone, its lower half where a program writes to it too, elsewhere lines. */
export function createLive(session: NativeSession, { title, startedMs, wholeScreen, quit }: LiveOptions): Live {
  const lineText = createLineReader();
  const view = (size: LiveSize, choice: LiveChoice): LiveView =>
    liveView(session, verdictsOf(session, lineText), {
      title,
      elapsedNs: (Date.now() - startedMs) * 1e6,
      choice,
      ...size,
    });
  if (wholeScreen) return createFullScreen(view, quit);
  const size = process.env.TERM === 'dumb' ? null : terminalSize(2);
  if (size === null || size.rows < MIN_ROWS) return { show: createNews(session, lineText), stop: () => undefined };
  return lowerHalf(view);
}

function lowerHalf(view: (size: LiveSize, choice: LiveChoice) => LiveView): Live {
  let size = terminalSize(2) ?? { rows: MIN_ROWS, columns: 80 };
  const screen = {
    get rows() {
      return size.rows;
    },
    get columns() {
      return size.columns;
    },
    write: (text: string) => write(2, text),
  };
  const table = new TerminalTable(screen);
  const show = (): void => {
    const { lines } = view({ rows: table.limit, columns: size.columns }, { sort: 'bytes', filter: '', from: 0 });
    table.draw(lines.map(({ text }) => text));
  };
  const resize = (): void => {
    size = terminalSize(2) ?? size;
    table.release();
    show();
  };
  process.on('SIGWINCH', resize);
  return {
    show,
    stop: () => {
      process.off('SIGWINCH', resize);
      table.release();
    },
  };
}
