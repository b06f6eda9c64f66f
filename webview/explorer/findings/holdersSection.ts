// The holders of a finding's blocks: the answer of the traced process on its card.
import { t } from '@vscode/l10n';
import { shareText } from '../../../extension/text/holderShare';
import { formatCount } from '../../../extension/text/format';
import type { HolderFound, Inquiry } from '../../../extension/protocol/requests/verdictRequests';
import { button, el, icon } from '../../dom';
import { holderText, lineText } from './text';
import { codeElement, wrapped } from '../common/named';
import { lineLink, type OpenLine } from '../common/lineLink';

interface InquiryActions {
  readonly openLine: OpenLine;
  readonly cancel: () => void;
}
const MOST_HOLDERS = 6;

export function holdersSection(inquiry: Inquiry, actions: InquiryActions): HTMLElement {
  const section = sectionOf(inquiry, actions);
  const total = inquiry.results.reduce((sum, holder) => sum + holder.count, 0);
  const shown = inquiry.results.slice(0, MOST_HOLDERS);
  const items = shown.map(holder => holderItem(holder, total, actions));
  if (items.length > 0) section.append(el('ul', { class: 'holders' }, ...items));
  const more = inquiry.results.length - shown.length;
  if (more > 0) section.append(el('p', { class: 'dim' }, t('… and {0} more', formatCount(more))));
  return section;
}

function holderItem(holder: HolderFound, total: number, actions: InquiryActions): HTMLElement {
  const path = codeElement(holder.path, { class: 'holder-path' });
  const item = el('li', { 'data-kind': holder.kind }, path);
  const { file, line } = holder;
  if (file !== null && line !== null) {
    item.append(' ', lineLink({ file, line }, actions.openLine, {}, lineText(holder)));
  }
  item.append(el('div', { class: 'dim' }, ...wrapped(holderText(holder, total))));
  const too = shareText(holder, t);
  if (too !== null) item.append(el('div', {}, ...wrapped(too)));
  return item;
}

/** Its title, and the state of the request. */
function sectionOf(inquiry: Inquiry, actions: InquiryActions): HTMLElement {
  const words = el('p', { class: 'dim inquiry', role: 'status' });
  const section = el(
    'section',
    { 'data-part': 'holders', 'data-state': inquiry.state },
    el('h3', {}, t('Holders')),
    words,
  );
  if (inquiry.state === 'refused') words.append(icon('info'), ' ');
  if (inquiry.state === 'asking') words.append(icon('loading'), ' ');
  words.append(inquiry.sentence);
  if (inquiry.state === 'asking') {
    words.append(' ', button('link', 'stop-asking', t('Stop waiting'), actions.cancel));
  }
  return section;
}
