import type { LineText } from '../../analysis/findings/kinds/findingContext';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { leftOf } from '../../report/tables/ending';
import { headLine, takenBackLine } from '../../report/tables/tableFindings';
import { liveView, type LiveChoice, type LiveSize, type LiveTitle, type LiveView } from '../../report/tables/liveView';
import type { NativeTrace } from '../../native/addon';
import { fitEnd } from '../../report/tables/fit';
import { formatBytes, formatDuration } from '../../text/format';
import { createLineReader } from '../../native/lineReader';
import { isGrowth, type Finding } from '../../protocol/verdicts';
import { notify, terminalSize, write } from '../output/output';
import { createFullScreen, type Live } from './fullScreen';
import { TerminalTable } from './terminalTable';

export interface LiveOptions extends Pick<LiveTitle, 'title' | 'pid'> {
  /** When the program began. */
  startedMs: number;
  /** Nobody else writes to this terminal or reads from it (`canTakeScreen`). */
  wholeScreen: boolean;
  /** The user left the view. */
  quit(): void;
}

const MIN_ROWS = 18;

/** The whole terminal where it is ours alone, its lower half where a program writes to it too, elsewhere lines. */
export function createLive(session: NativeTrace, { title, pid, startedMs, wholeScreen, quit }: LiveOptions): Live {
  const lineText = createLineReader();
  const elapsedNs = (): number => (Date.now() - startedMs) * 1e6;
  const now = (size: LiveSize, choice: LiveChoice): LiveView =>
    liveView(session, verdictsOf(session, lineText), { title, pid, elapsedNs: elapsedNs(), choice, ...size });
  const view = lastFull(now, ({ columns }, drawnMs) => {
    const left = leftOf(session);
    if (left === null) return null;
    const name = `${formatDuration(elapsedNs())} · ${fitEnd(title, Math.floor(columns / 3))}`;
    const then = formatDuration((drawnMs - startedMs) * 1e6);
    return fitEnd(`${name} · ${formatBytes(left)} live now; below: as of ${then}`, columns);
  });
  if (wholeScreen) return createFullScreen(view, quit);
  const size = process.env.TERM === 'dumb' ? null : terminalSize(2);
  if (size === null || size.rows < MIN_ROWS) {
    if (pid !== null) notify(`Process ${pid} is traced.`);
    return { show: createNews(session, lineText), stop: () => undefined };
  }
  return lowerHalf(view);
}

type View = (size: LiveSize, choice: LiveChoice) => LiveView;

/**
 * Before a program is gone it frees what it has: what was seen last stays until then, or until the user does something. `emptied`: the
 * first line instead, which states that; null: there is enough to be seen.
 */
function lastFull(now: View, emptied: (size: LiveSize, drawnMs: number) => string | null): View {
  let last = { view: null as LiveView | null, request: '', drawnMs: 0 };
  return (size, choice) => {
    const request = JSON.stringify([size, choice]);
    const title = emptied(size, last.drawnMs);
    if (title !== null && last.view !== null && last.request === request)
      return { ...last.view, lines: [{ text: title, style: 'strong' }, ...last.view.lines.slice(1)] };
    const view = now(size, choice);
    last = { view: title === null ? view : null, request, drawnMs: Date.now() };
    return view;
  };
}

function lowerHalf(view: View): Live {
  const size = terminalSize(2) ?? { rows: MIN_ROWS, columns: 80 };
  const screen = { ...size, write: (text: string) => write(2, text) };
  const table = new TerminalTable(screen);
  const show = (): void => {
    const { lines } = view({ rows: table.limit, columns: screen.columns }, { sort: 'bytes', filter: '', from: 0 });
    table.draw(lines.map(({ text }) => text));
  };
  const resize = (): void => {
    Object.assign(screen, terminalSize(2));
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

/** Prints on stderr what has been found since the last call: a line a finding, again only where its verdict is another, or gone. */
function createNews(session: NativeTrace, lineText: LineText): () => void {
  const printed = new Map<string, Finding>();
  return () => {
    const { findings, sites } = verdictsOf(session, lineText);
    for (const finding of findings) {
      if (printed.get(finding.id)?.verdict !== finding.verdict) notify(headLine(finding));
      printed.set(finding.id, finding);
    }
    const current = new Set(findings.map(({ id }) => id));
    for (const [id, finding] of printed) {
      if (current.has(id)) continue;
      printed.delete(id);
      // A leak that memory ran out of is reported with the failure.
      const failed = findings.some(
        ({ failure, sites: own }) => failure && own.some(site => finding.sites.includes(site)),
      );
      if (failed || !isGrowth(finding)) continue;
      const now = finding.sites.map(site => sites.get(site)?.because).find(because => because !== undefined);
      notify(takenBackLine(finding, now ?? ''));
    }
  };
}
