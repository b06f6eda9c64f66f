import * as vscode from 'vscode';
import { holderOfBlock } from '../../../analysis/findings/blockHolder';
import type { BlockQuery, BlockRequests } from '../../../protocol/requests/blockRequests';
import type { AllocationWindow, TraceSource } from '../../../protocol/trace';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { bornIn, openTrace, openVerdicts, sourceOf } from './source';

export function blockAnswers(model: PageModel): Answers<BlockRequests> {
  return {
    allocations: async ({ moment, ...query }) => {
      const at = await sourceOf(model, moment);
      return at.source.allocations({ ...query, ...bornIn(at) });
    },
    block: async ({ moment, ...query }) => findBlock((await sourceOf(model, moment)).source, query),
    blockHolder: query => holderOfBlock(openTrace(model), query),
    askBlock: query => openVerdicts(model).askBlock(query),
    copyText: async ({ text }) => vscode.env.clipboard.writeText(text),
  };
}

/** The block among the live ones of its site. */
function findBlock(trace: TraceSource, { process, site, address }: BlockQuery): AllocationWindow | null {
  const query = { process, site, sort: 'address', descending: false } as const;
  const wanted = BigInt(address);
  const { total } = trace.allocations({ ...query, from: 0, to: 0 });
  const at = trace.allocations({ ...query, from: 0, to: total }).address.indexOf(wanted);
  return at < 0 ? null : trace.allocations({ ...query, from: at, to: at + 1 });
}
