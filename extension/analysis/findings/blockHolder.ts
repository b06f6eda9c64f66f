import type { BlockHolder, HolderQuery } from '../../protocol/requests/blockRequests';
import type { HolderLink } from '../../protocol/requests/verdictRequests';
import type { TraceSource } from '../../protocol/trace';
import { formatCount } from '../../text/format';
import { holderEntries } from './kinds/holderAnswers';

/** The newest answer that names the block at this address; null where none does, or the agent found none. */
export function holderOfBlock(source: TraceSource, query: HolderQuery): BlockHolder | null {
  const { process, timeNs: allocatedNs } = query;
  const address = BigInt(query.address);
  const answers = source.info().answers.filter(answer => answer.complete && answer.process === process);
  for (const { index, timeNs } of answers.toSorted((a, b) => b.timeNs - a.timeNs)) {
    const answer = source.answer({ process, index });
    const same = answer?.blocks.some(block => block.address === address && block.timeNs === allocatedNs) ?? false;
    const entries = same ? holderEntries(answer?.text ?? '') : [];
    const found = entries.find(entry => entry.addresses.includes(address));
    if (found !== undefined && found.holder.path !== '')
      return { ...found.holder, chain: found.chain.map(linkText), timeNs };
  }
  return null;
}

/** `[...] (list of 12): Tensor`: what refers, and to what. */
function linkText({ kind, name, type, length }: HolderLink): string {
  const size = length === null ? '' : ` (${kind} of ${formatCount(length)})`;
  return type === '' ? `${name}${size}` : `${name}${size}: ${type}`;
}
