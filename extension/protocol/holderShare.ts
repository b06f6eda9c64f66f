import { baseName, formatCount } from './format';
import type { FindingHolder, HolderPart, HolderToo } from './verdicts';

/** So much of it is as good as all: newest blocks have not come to every holder yet. */
const NEARLY = 0.9;

/** `l10n.t`. */
type Translate = (text: string, ...values: string[]) => string;

/**
 * `It holds 20 of 60 blocks. trainer.seen[...] (train.py:12) holds 30. Other holders: 2.`, and who else has its blocks; null: it holds
 * all, and nobody else.
 */
export function shareText({ share, also }: FindingHolder, t: Translate): string | null {
  const sentences = [...(share === undefined ? [] : shareSentences(share, t)), ...alsoSentences(also ?? [], t)];
  return sentences.length > 0 ? sentences.join(' ') : null;
}

function shareSentences({ blocks, of, others, named }: NonNullable<FindingHolder['share']>, t: Translate): string[] {
  const counts = [formatCount(blocks), formatCount(of)] as const;
  if (others === 0) return [t('It holds {0} of {1} blocks; who holds the others is not known.', ...counts)];
  const sentences = [t('It holds {0} of {1} blocks.', ...counts), ...named.map(part => partText(part, t))];
  if (others > named.length) sentences.push(t('Other holders: {0}.', formatCount(others - named.length)));
  return sentences;
}

/** `__main__.log_b[...] (train.py:10) holds the same memory. Change both.` */
function alsoSentences(also: readonly HolderToo[], t: Translate): string[] {
  if (also.length === 0) return [];
  return [...also.map(part => tooText(part, t)), also.length === 1 ? t('Change both.') : t('Change all of them.')];
}

function tooText(part: HolderToo, t: Translate): string {
  const [blocks, of] = [formatCount(part.blocks), formatCount(part.of)];
  if (part.blocks > NEARLY * part.of) return t('{0} holds the same memory.', nameOf(part));
  return t('{0} holds {1} of its {2} blocks too.', nameOf(part), blocks, of);
}

function partText(part: HolderPart, t: Translate): string {
  return t('{0} holds {1}.', nameOf(part), formatCount(part.blocks));
}

const nameOf = ({ path, file, line }: HolderPart): string =>
  file === null || line === null ? path : `${path} (${baseName(file)}:${line})`;
