import assert from 'node:assert/strict';
import type { CardLedger, LedgerPart, LedgerPartKind } from '../../../extension/protocol/requests/ledgerRequests';
import { cardText, partWidths, slopeText, usedText } from '../../../webview/explorer/ledger/ledgerText';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const part = (kind: LedgerPartKind, bytes: number, bytesPerStep: number | null = null): LedgerPart => {
  return { kind, bytes, bytesPerStep, lines: [], libraries: [] };
};
const card = (...parts: LedgerPart[]): CardLedger => {
  return { device: 0, name: 'A', totalBytes: 100 * MB, overBytes: 0, parts };
};

test('the widths of a bar sum to all of it', () => {
  const widths = partWidths(card(part('tensor', 10 * MB), part('cached', 0), part('free', 90 * MB)));
  assert.deepEqual(widths, [10, 0, 90]);
  assert.deepEqual(partWidths(card(part('tensor', 0), part('unknown', 0))), [0, 100]);
});

test('a slope is said where it is more than rounding', () => {
  assertSentence(slopeText({ bytesPerStep: 30.2 * MB }));
  assertSentence(slopeText({ bytesPerStep: -MB }));
  assert.deepEqual([slopeText({ bytesPerStep: 100 }), slopeText({ bytesPerStep: null })], ['', '']);
});

test('a card that was not asked may hold more than is known', () => {
  const tensor = part('tensor', 10 * MB, 2 * MB);
  assert.equal(usedText(card(tensor, part('free', 90 * MB))), '10 MiB');
  assert.equal(usedText(card(tensor, part('unknown', 90 * MB))), '≥ 10 MiB');
  assertSentence(cardText(card(tensor, part('unknown', 90 * MB))));
});
