// Stands in for the editor where the page is a file of its own. It runs before the page's script.
import '../strings';
import './recorded.css';
import { t } from '@vscode/l10n';
import { Outbox, type Batch } from '../../extension/protocol/requests/outbox';
import type { ToHost, ToPage } from '../../extension/protocol/requests/messages';
import { kinds, variables } from '../themes.json';
import { el, setText } from '../dom';
import { RecordedAnswers } from './recordedAnswers';
import { unpack } from './unpack';

const COPIED_MS = 3_000;
/** Of A4 across, without the margins of `recorded.css`. */
const PRINTED_PX = (277 / 25.4) * 96;
const THEMES = Object.keys(kinds) as (keyof typeof kinds)[];
const dark = matchMedia('(prefers-color-scheme: dark)');
const contrast = matchMedia('(prefers-contrast: more)');
const printed = matchMedia('print');

function setTheme(): void {
  const isDark = dark.matches && !printed.matches;
  const theme = contrast.matches ? (isDark ? 'contrast' : 'contrastLight') : isDark ? 'dark' : 'light';
  const column = THEMES.indexOf(theme);
  for (const [name, values] of Object.entries(variables))
    document.documentElement.style.setProperty(name, values[column] ?? '');
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
  document.body.className = `recorded ${kinds[theme]}`;
}
for (const query of [dark, contrast, printed]) query.addEventListener('change', setTheme);
setTheme();
// Nothing is laid out or drawn anew for paper: it gets the page as it is, as wide as the paper.
addEventListener('beforeprint', () => {
  const surface = document.querySelector<HTMLElement>('.timeline-surface');
  document.body.style.setProperty('--printed-timeline', `${surface?.offsetHeight ?? 0}px`);
  document.documentElement.style.zoom = String(PRINTED_PX / innerWidth);
});
addEventListener('afterprint', () => (document.documentElement.style.zoom = ''));

const outbox = new Outbox<ToPage>(
  packet => dispatchEvent(new MessageEvent('message', { data: packet })),
  run => queueMicrotask(run),
);
const opened = unpack(document.getElementById('recorded')?.textContent ?? '');

const copied = el('div', { class: 'copied', role: 'status' });
document.body.append(copied);

/** Where the browser does not allow it, the text stays to be copied by hand. */
async function copy(text: string): Promise<void> {
  const done = await Promise.resolve(navigator.clipboard?.writeText(text)).then(
    () => navigator.clipboard !== undefined,
    () => false,
  );
  setText(copied, done ? t('Copied: {0}', text) : text);
  if (done) setTimeout(() => setText(copied, ''), COPIED_MS);
}

async function receive(message: ToHost): Promise<void> {
  const { session, valueOf } = await opened;
  if (message.type === 'ready') return outbox.post({ type: 'session', session });
  const { id, method, params } = message;
  try {
    answers ??= new RecordedAnswers(session, valueOf, copy);
    outbox.post({ type: 'response', id, ok: true, value: await answers.answer(method, params) });
  } catch (error) {
    outbox.post({ type: 'response', id, ok: false, error: error instanceof Error ? error.message : String(error) });
  }
}
let answers: RecordedAnswers | undefined;

Object.assign(window, {
  acquireVsCodeApi: () => ({
    postMessage: (packet: ToHost | Batch<ToHost>) => {
      for (const message of packet.type === 'batch' ? packet.messages : [packet]) void receive(message);
    },
    getState: () => undefined,
    setState: () => undefined,
  }),
});
