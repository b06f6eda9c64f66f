// A finding as texts: its figures, its holder.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount, lineName } from '../../../extension/text/format';
import { roomTexts } from '../../../extension/text/roomText';
import { isSinceSure, paceOf } from '../../../extension/text/pace';
import { isGrowth, isLeak } from '../../../extension/protocol/verdicts';
import { blocksText } from '../common/counts';
import type { FindingView, HolderFound } from '../../../extension/protocol/requests/verdictRequests';

const HOLDER_KINDS: Record<string, string> = {
  global: t('global variable'),
  local: t('local variable of a running function'),
  attribute: t('attribute'),
  'module-attribute': t('PyTorch module attribute'),
  container: t('container'),
  closure: t('closure variable'),
  generator: t('generator variable'),
  hook: t('hook'),
  traceback: t('exception traceback'),
  cycle: t('reference cycle, waiting for garbage collection'),
  autograd: t('autograd graph'),
  object: t('object'),
};

/** `+4.19 MB per step`, `full after 412 more steps`, …: how urgent it is, as far as it is known. */
export function figures(finding: FindingView): string[] {
  const { atStep, processes } = finding;
  const failed = atStep === null ? [] : [t('in step {0}', formatCount(atStep))];
  const ranks = processes > 1 ? [t('in {0} processes', formatCount(processes))] : [];
  return [...failed, ...paceOf(finding, t), ...ranks];
}

/** Limit and use of a failure; `820.00 MB in 200 blocks at the end of step 212`, `since step 12`, `confidence 97%`: as far as they are known. */
export function moreFigures(finding: FindingView): string[] {
  const { sinceStep, confidence, bytes, count, heldWhen, cause, failure } = finding;
  const facts = failure ? roomTexts(failure, t) : [];
  // Of a failure that came of no leak it is the request, which the headline has.
  if (bytes > 0 && (cause === null || isLeak(finding)))
    facts.push(t('{0} in {1}', formatBytes(bytes), `${blocksText(count)} ${heldWhen}`));
  if (sinceStep !== null && isSinceSure(sinceStep)) facts.push(t('since step {0}', formatCount(sinceStep)));
  // Of what may stop growing only the growth is sure.
  if (confidence < 1 && (isLeak(finding) || !isGrowth(finding)))
    facts.push(t('confidence {0}%', Math.round(confidence * 100)));
  return facts;
}

/** `train.py:41`, or the empty string where there is no Python line. */
export function lineText(place: { file: string | null; line: number | null } | null): string {
  return lineName(place) ?? '';
}

/** `list of 120 · global variable · 118 of 118 blocks, 7.38 MB`. */
export function holderText({ kind, length, bound, chain, count, bytes }: HolderFound, total: number): string {
  const parts: string[] = [];
  const container = chain.findLast(link => link.length !== null);
  if (length !== null) {
    const name = container === undefined ? t('container') : kindName(container.kind);
    parts.push(bound === null ? t('{0} of {1}', name, formatCount(length)) : `${name} ${length}/${bound}`);
  }
  const word = HOLDER_KINDS[kind];
  if (word !== undefined && !(length !== null && kind === 'container')) parts.push(word);
  if (kind === 'none') parts.push(t('may be held by C++, another process or a CUDA graph’s pool'));
  parts.push(t('{0} of {1} blocks, {2}', formatCount(count), formatCount(total), formatBytes(bytes)));
  return parts.join(' · ');
}

/** Names of a step on the way, such as `dict`, are Python's own. */
function kindName(kind: string): string {
  return ['list', 'tuple', 'dict', 'set', 'frozenset', 'deque'].includes(kind) ? kind : t('container');
}
