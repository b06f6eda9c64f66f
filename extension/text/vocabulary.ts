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
      growing: words('alarm', t('growing'), t('It keeps growing, and none of it is freed: a leak.')),
      rising: words('warning', t('grows so far'), t('It grows: a leak, or a cache or buffer that is not full yet.')),
      rose: words(
        'warning',
        t('grew until the end'),
        t('It grew as long as the program ran: a leak, or a cache or buffer that was not full yet.'),
        t('grew'),
      ),
      slow: words('calm', t('slow leak'), t('It keeps growing, too slowly to ever matter.')),
      sawtooth: words('calm', t('sawtooth'), t('It builds up and is freed again: an epoch, a queue.')),
      plateau: words(
        'calm',
        t('plateau'),
        t('It rose and stays level, or fills up to a known bound: optimizer state, a cache, a window.'),
      ),
      'one-shot': words('calm', t('one-shot'), t('It was allocated once and stays: weights, inputs.')),
      transient: words('calm', t('transient'), t('It is gone within a step or two of its allocation.')),
      cycle: words('calm', t('cycles'), t('Reference cycles keep it until Python’s collector runs.')),
      anomaly: words('calm', t('outlier'), t('One allocation was far bigger than usual for this line.')),
      cache: words('calm', t('cache'), t('PyTorch’s own segments: they follow the tensors.')),
      'before-attach': words('calm', t('before'), t('It was there before the recording began.')),
      unknown: words('calm', t('unknown'), t('The trace has too little of it to tell.'), ''),
    },
    findings: {
      leak: words('alarm', t('Leak'), t('Memory that is kept step after step.')),
      rising: words(
        'warning',
        t('Grows so far'),
        t('Memory that is kept step after step, until now: a leak, or something that fills.'),
      ),
      rose: words(
        'warning',
        t('Grew until the end'),
        t('Memory that was kept step after step until the end of the trace: a leak, or something that was filling.'),
      ),
      slow: words(
        'calm',
        t('Slow leak'),
        t('Memory that is kept step after step; filling the device takes more than a year.'),
      ),
      oom: words('warning', t('Out of memory'), t('An allocation failed.')),
      fragmentation: words('warning', t('Fragmentation'), t('The cache grows; what is in it does not.')),
      pending: words(
        'warning',
        t('Unused cache'),
        t('Much of the cache is waiting for a stream, or belongs to another pool.'),
      ),
      cycle: words('warning', t('Cycles'), t('Much memory is waiting for Python’s garbage collector.')),
      anomaly: words('warning', t('Outlier'), t('One allocation was far bigger than usual for this line.')),
      untraced: words('warning', t('Untraced'), t('The process grows beyond all that was seen.')),
    },
    passes: {
      other: t('between'),
      forward: t('forward'),
      evaluation: t('evaluation'),
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
      other: t('other named tensors'),
      unnamed: t('not named'),
    },
  };
}
