import { formatCount, lineName, type Translate } from './format';
import type { FindingHolder, HolderPart, HolderToo } from '../protocol/verdicts';

/** So much of it is as good as all: newest blocks have not come to every holder yet. */
const NEARLY = 0.9;

/** The others that are named beside a holder: those that have the same memory, then those that have other blocks. */
export function otherHolders({ also = [], share }: FindingHolder): HolderPart[] {
  return [...also, ...(share?.named ?? [])];
}

/**
 * `It holds 20 of 60 blocks. trainer.seen[...] (train.py:12) holds 30. Other holders: 2.`, and other holders of its blocks:
 * `log_b[...] (train.py:10) also holds this memory. Change both.`; null: it is the only holder of all.
 */
export function shareText({ share, also = [], asked }: FindingHolder, t: Translate): string | null {
  const sentences = share === undefined ? [] : shareSentences(share, asked !== undefined, t);
  sentences.push(...also.map(part => tooText(part, t)));
  const all = 1 + also.length + (share?.others ?? 0);
  if (also.length > 0) sentences.push(all === 2 ? t('Change both.') : t('Change all of them.'));
  return sentences.length > 0 ? sentences.join(' ') : null;
}

/** @param earlier they were counted while the program ran, and there may be more blocks by now */
function shareSentences(
  { blocks, of, others, named }: NonNullable<FindingHolder['share']>,
  earlier: boolean,
  t: Translate,
): string[] {
  const counts = [formatCount(blocks), formatCount(of)] as const;
  const share = earlier
    ? t('When it was found, it held {0} of {1} blocks.', ...counts)
    : t('It holds {0} of {1} blocks.', ...counts);
  if (others === 0) return [share, t('The holder of the others is unknown.')];
  const parts = named.map(part => {
    const words = [nameOf(part), formatCount(part.blocks)] as const;
    return earlier ? t('{0} held {1}.', ...words) : t('{0} holds {1}.', ...words);
  });
  const rest = others > named.length ? [t('Other holders: {0}.', formatCount(others - named.length))] : [];
  return [share, ...parts, ...rest];
}

function tooText(part: HolderToo, t: Translate): string {
  if (part.blocks > NEARLY * part.of) return t('{0} also holds this memory.', nameOf(part));
  return t('{0} also holds {1} of these {2} blocks.', nameOf(part), formatCount(part.blocks), formatCount(part.of));
}

function nameOf(part: HolderPart): string {
  const line = lineName(part);
  return line === null ? part.path : `${part.path} (${line})`;
}
