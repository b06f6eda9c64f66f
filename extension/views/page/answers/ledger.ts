import { readCards } from '../../../analysis/ledger/cardLedger';
import type { LedgerRequests } from '../../../protocol/requests/ledgerRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { openTrace } from './source';

export function ledgerAnswers(model: PageModel): Answers<LedgerRequests> {
  return { ledger: () => readCards(openTrace(model)) };
}
