// What states, findings and purposes are called: the same words in table, cards, terminal and hovers. JSON has their keys.
import type { Category, Pass } from '../protocol/answers.gen';
import type { Translate } from './format';
import type { FindingVerdict, SiteState } from '../protocol/verdicts';

/** `alarm` is red and for growth alone; `warning` is what costs memory and does not grow; all else is `calm`, grey. */
export type Tone = 'alarm' | 'warning' | 'calm';
export interface Words {
  name: string;
  /** In a row of the table; empty: not worth a word. */
  short: string;
  /** What it means. */
  sentence: string;
  tone: Tone;
}
export interface Vocabulary {
  states: Record<SiteState, Words>;
  findings: Record<FindingVerdict, Words>;
  /** What memory is for, in a list of sums. */
  categories: Record<Category, string>;
  passes: Record<Pass, string>;
}

export function vocabulary(t: Translate): Vocabulary {
  const words = (tone: Tone, name: string, sentence: string, short = name): Words => ({ name, short, sentence, tone });
  return {
    states: {
      growing: words('alarm', t('leak'), t('It keeps growing, and nothing limits it.')),
      rising: words('warning', t('suspected leak'), t('It is growing: a leak, or a cache that is not full yet.')),
      rose: words(
        'warning',
        t('grew until the end'),
        t('It grew until the program ended: a leak, or a cache or buffer that was not full yet.'),
        t('grew'),
      ),
      slow: words('calm', t('slow leak'), t('It keeps growing, but would need more than a year to fill the GPU.')),
      sawtooth: words('calm', t('sawtooth'), t('It builds up and is freed again, like a queue.')),
      plateau: words(
        'calm',
        t('plateau'),
        t('It grew and stays level, or fills up to a known limit: optimizer state, a cache, a window.'),
      ),
      'one-shot': words('calm', t('persistent'), t('It was allocated once and stays alive: weights, inputs.')),
      transient: words('calm', t('temporary'), t('It is freed within one or two steps.')),
      cycle: words('calm', t('cycles'), t('Reference cycles keep it alive until Python’s garbage collector runs.')),
      anomaly: words('calm', t('outlier'), t('One allocation was much larger than usual for this line.')),
      cache: words('calm', t('reserved'), t('Memory that PyTorch reserved for tensors, used or not.')),
      'before-attach': words('calm', t('pre-existing'), t('It was allocated before the recording began.')),
      unknown: words(
        'calm',
        t('not judged'),
        t('It has no verdict, for example because there were too few steps.'),
        '',
      ),
    },
    findings: {
      leak: words('alarm', t('Leak'), t('Memory that stays allocated step after step.')),
      rising: words(
        'warning',
        t('Suspected leak'),
        t('Memory that has stayed allocated so far: a leak, or a cache that is filling up.'),
      ),
      rose: words(
        'warning',
        t('Grew until the end'),
        t('Memory that stayed allocated until the end of the trace: a leak, or a cache that was filling up.'),
      ),
      slow: words('calm', t('Slow leak'), t('It needs more than a year to fill the GPU.')),
      oom: words('warning', t('Out of memory'), t('An allocation failed.')),
      fragmentation: words(
        'warning',
        t('Fragmentation'),
        t('PyTorch’s reserved memory grows, but its allocated memory does not.'),
      ),
      pending: words(
        'warning',
        t('Unused cache'),
        t('PyTorch cannot reuse much freed memory: another stream still works on it, or it belongs to another pool.'),
      ),
      rounded: words('calm', t('Rounded up'), t('Pinned host memory is much larger than the tensors in it.')),
      cycle: words('warning', t('Cycles'), t('Much memory is waiting for Python’s garbage collector.')),
      anomaly: words('warning', t('Outlier'), t('One allocation was much larger than usual for this line.')),
      untraced: words('warning', t('Untraced'), t('The process uses more GPU memory than the traced calls explain.')),
    },
    passes: {
      other: t('between passes'),
      forward: t('forward'),
      evaluation: t('forward (no_grad)'),
      backward: t('backward'),
      optimizer: t('optimizer'),
    },
    categories: {
      parameter: t('parameters'),
      gradient: t('gradients'),
      optimizer: t('optimizer state'),
      buffer: t('buffers'),
      activation: t('activations'),
      workspace: t('workspaces'),
      other: t('other labeled tensors'),
      unnamed: t('unlabeled'),
    },
  };
}
