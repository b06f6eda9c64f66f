import { t } from '@vscode/l10n';
import { holderOfBlock } from '../analysis/findings/blockHolder';
import { holderText, placeText } from '../analysis/words';
import { formatBytes } from '../text/format';
import type { TensorFound } from '../protocol/requests/engineRequests';
import type { FollowedTrace } from './followedTrace';

/** The description of the tensor whose memory begins at an address of a process that stands still; null: it is none that was traced. */
export async function tensorOf(
  { session, verdicts }: FollowedTrace,
  pid: number,
  address: bigint,
): Promise<TensorFound | null> {
  const { native: trace } = session;
  const process = trace.info().processes.findLastIndex(one => one.pid === pid);
  const [facts] = process < 0 ? [] : trace.blocks({ process, addresses: [address] });
  if (!facts?.alive) return null;
  const block = { process, site: facts.site, address: `0x${address.toString(16)}` };
  const of = { ...block, timeNs: facts.timeNs };
  // The program stands still: a query takes none of its time.
  if (holderOfBlock(trace, of) === null) await verdicts.inspectBlock(block);
  const site = trace.site(facts.site);
  const place = placeText(site?.frames[Math.max(site.userFrame, 0)] ?? null);
  const bytes = formatBytes(facts.bytes);
  const born = t('{0} of GPU memory, allocated at {1} in step {2}.', bytes, place, facts.step);
  const holder = holderOfBlock(trace, of);
  const held = holder === null ? '' : t('Held by {0}.', holderText(holder));
  return { block, place, text: `${born} ${held}`.trim() };
}
