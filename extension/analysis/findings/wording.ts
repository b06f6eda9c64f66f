import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../protocol/format';
import type { Finding, LeakClass } from '../../protocol/verdicts';
import { blocksText, ordinal, placeText, tensorsText } from '../words';

type LeakFacts = Pick<Finding, 'layer' | 'bytesPerStep' | 'blocksPerStep' | 'place' | 'library'> & {
  class: LeakClass;
  period: number;
  sinceStep: number;
};

/** What is kept; and how much of it, where, since when. */
export function leakWords(facts: LeakFacts): Pick<Finding, 'headline' | 'detail'> {
  const each = facts.period > 1.5 ? t('every {0} step', ordinal(Math.round(facts.period))) : t('each step');
  const blocks = Math.max(1, Math.round(facts.blocksPerStep * Math.max(1, facts.period)));
  const what = facts.layer === 'tensor' ? tensorsText(blocks) : blocksText(blocks);
  const [bytes, since] = [formatBytes(facts.bytesPerStep), formatCount(facts.sinceStep)];
  const rate =
    facts.place === null && facts.library !== null
      ? t('{0} a step by {1}, since step {2}', bytes, facts.library, since)
      : t('{0} a step at {1}, since step {2}', bytes, placeText(facts.place), since);
  const counted = `${what}, ${rate}`;
  const stays = blocks === 1 ? t('{0} of {1} stays alive', what, each) : t('{0} of {1} stay alive', what, each);
  const words: Record<LeakClass, [headline: string, detail: string]> = {
    graph: [t('A whole autograd graph of {0} is kept', each), counted],
    size: [t('One tensor gets bigger with {0}', each), rate],
    gradients: [t('Gradients of {0} are kept', each), counted],
    backward: [t('Tensors made in the backward pass of {0} are kept', each), counted],
    cycle: [t('Reference cycles keep {0} of {1}', what, each), rate],
    exception: [t('A kept exception keeps {0} of {1}', what, each), rate],
    hook: [t('A hook keeps {0} of {1}', what, each), rate],
    pinned: [t('Pinned host memory is taken in {0} and kept', each), counted],
    driver: [t('Driver memory outside PyTorch’s cache is taken in {0} and kept', each), counted],
    outputs: [stays, rate],
  };
  const [headline, detail] = words[facts.class];
  return { headline, detail };
}

/** Headline and detail in one; of a failure, which is named by `word`, a sentence with its full stop. */
export function titleOf(
  facts: Pick<Finding, 'verdict' | 'headline' | 'detail' | 'atStep' | 'processes'>,
  word = t('Out of memory'),
): string {
  const { verdict, headline, detail, atStep, processes } = facts;
  const failure = atStep === null ? word : t('{0} in step {1}', word, formatCount(atStep));
  const plain = detail === null ? headline : t('{0}: {1}', headline, detail);
  const title = verdict === 'oom' ? t('{0}: {1}. {2}', failure, headline, detail ?? '') : plain;
  const all = processes === 1 ? title : t('{0}, in {1} processes', title, formatCount(processes));
  return verdict === 'oom' ? `${all}.` : all;
}

/** A finding of which is told what is not usual. */
export function makeFinding(
  facts: Partial<Finding> & Pick<Finding, 'id' | 'verdict' | 'headline' | 'process' | 'suggestion'>,
): Finding {
  const finding: Finding = {
    class: null,
    cause: null,
    title: '',
    detail: null,
    processes: 1,
    device: -1,
    layer: 'tensor',
    bytesPerStep: 0,
    bytes: 0,
    count: 0,
    blocksPerStep: 0,
    sinceStep: null,
    atStep: null,
    period: null,
    fullAtStep: null,
    confidence: 1,
    place: null,
    places: [],
    sites: [],
    holder: null,
    library: null,
    evidence: [],
    ruledOut: [],
    ...facts,
  };
  return { ...finding, title: titleOf(finding) };
}
