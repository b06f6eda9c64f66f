import { baseName, formatCount } from './format';
import type { FindingHolder, HolderPart } from './verdicts';

/** `l10n.t`. */
type Translate = (text: string, ...values: string[]) => string;

/** `It holds 20 of 60 blocks. trainer.seen[...] (train.py:12) holds 30. Other holders: 2.`; null: it holds all. */
export function shareText({ share }: FindingHolder, t: Translate): string | null {
  if (share === undefined) return null;
  const { others, named } = share;
  const [blocks, of] = [formatCount(share.blocks), formatCount(share.of)];
  if (others === 0) return t('It holds {0} of {1} blocks; who holds the others is not known.', blocks, of);
  const sentences = [t('It holds {0} of {1} blocks.', blocks, of), ...named.map(part => partText(part, t))];
  if (others > named.length) sentences.push(t('Other holders: {0}.', formatCount(others - named.length)));
  return sentences.join(' ');
}

function partText({ path, file, line, blocks }: HolderPart, t: Translate): string {
  const count = formatCount(blocks);
  if (file === null || line === null) return t('{0} holds {1}.', path, count);
  return t('{0} ({1}) holds {2}.', path, `${baseName(file)}:${line}`, count);
}
