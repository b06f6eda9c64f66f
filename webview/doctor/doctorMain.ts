// The page of what this machine can record.
import '../strings';
import '../base.css';
import '../document.css';
import './doctor.css';
import { t } from '@vscode/l10n';
import type {
  DoctorCheck,
  DoctorGroup,
  ToDoctorHost,
  ToDoctorPage,
} from '../../extension/protocol/requests/doctorMessages';
import { primaryButton, progressRing, registerComponents } from '../components';
import { button, el, icon } from '../dom';

const vscode = acquireVsCodeApi();
const app = document.getElementById('app') ?? document.body;
registerComponents();

const post = (message: ToDoctorHost): void => vscode.postMessage(message);
const ICONS = { ok: 'pass', warning: 'warning', missing: 'error' } as const;
const WORDS = { ok: t('OK'), warning: t('Warning'), missing: t('Missing') };
const COPIED_MS = 2_000;

const title = el('h1', {}, t('Check setup'));
const again = primaryButton('check-again', t('Check again'), () => post({ type: 'check' }));
const status = el('div', { class: 'status', role: 'status' });
const groups = el('div', { class: 'groups' });
app.append(el('header', {}, title, again), status, groups);

/** Begins with a capital letter, unless that is typed: `pip install`, `libcupti`. */
const begun = (text: string): string =>
  /^(pip|lib)/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function checkItem({ state, name, detail, fix, command, links = [] }: DoctorCheck): HTMLElement {
  const mark = el('span', { class: `codicon codicon-${ICONS[state]}`, role: 'img', 'aria-label': WORDS[state] });
  const words = el('div', {}, el('strong', {}, begun(name)), ' ', el('span', { class: 'dim' }, detail));
  if (fix !== '')
    words.append(el('p', { class: 'fix' }, begun(command === undefined ? fix : fix.replace(command, ''))));
  if (command !== undefined) words.append(commandLine(command));
  const leads = links.map(({ label, href }) => el('a', { href }, label));
  if (links.length > 0) words.append(el('p', { class: 'links' }, ...leads));
  return el('li', { class: 'check', 'data-state': state, 'data-check': name }, mark, words);
}

/** A line to type, with a button that copies it. */
function commandLine(command: string): HTMLElement {
  const copy = button('link', 'copy', [icon('copy'), ' ', t('Copy')], () => {
    post({ type: 'copy', text: command });
    copy.replaceChildren(icon('check'), ' ', t('Copied'));
    setTimeout(() => copy.replaceChildren(icon('copy'), ' ', t('Copy')), COPIED_MS);
  });
  return el('p', { class: 'command' }, el('code', {}, command), ' ', copy);
}

function groupSection({ title, verdict, possible, checks }: DoctorGroup): HTMLElement {
  const summary = el('p', { class: 'verdict' }, icon(possible ? 'pass' : 'circle-slash'), ' ', verdict);
  const list = el('ul', {}, ...checks.map(checkItem));
  return el('section', { 'data-possible': String(possible) }, el('h2', {}, title), summary, list);
}

addEventListener('message', ({ data }: MessageEvent<ToDoctorPage>) => {
  if (data.type === 'checking') {
    status.replaceChildren(progressRing(), t('Checking…'));
    return;
  }
  if (data.type === 'problem') return status.replaceChildren(icon('error'), ' ', data.sentence);
  status.replaceChildren();
  groups.replaceChildren(...data.groups.map(groupSection));
});
post({ type: 'ready' });
