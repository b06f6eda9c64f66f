// While a program runs, all figures that stand beside each other are of one moment.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { LONG } from '../long.mjs';
import { FIRST, freshPage, PAGE, reached, rowAt, trace, writeScript } from './pageActions';
import { click, until, watched, watchTexts } from './window';

/** Each shows how much is alive: the header, the bar of the card, the title of the table, its row. */
const TOTALS = [
  '[data-value=live]',
  '.ledger-legend [data-key=driver] [data-bytes]',
  '[data-value=sums]',
  '[data-row="0"] [data-column^=live]',
];
/**
 * Some allocations a frame, of a size that makes each total another one: from the beginning of a MiB, and for minutes below 100, from where
 * on a narrow cell has fewer digits than the other places.
 */
const JOB = `while True:
    allocate(ctypes.byref(address), ctypes.c_size_t(4000 if address.value else 2 << 20))
    time.sleep(0.002)
`;
const bytesOf = (text: string): string => /[\d.,]+ (?:[KMG]i)?B/.exec(text.split('·').at(-1) ?? '')?.[0] ?? text;

describe('The moment that is shown while a program runs', () => {
  before(freshPage);
  after(freshPage);

  it('is one in the header, the bar of the card and the table, whatever the user does meanwhile', async () => {
    const file = writeScript('moment.py', JOB);
    await trace(file);
    await reached('running');
    await rowAt(file, FIRST + 1);
    await watchTexts(PAGE, TOTALS);
    const seen = async (): Promise<string[][]> => (await watched(PAGE)).map(one => one.map(bytesOf));
    for (const column of ['site', 'live', ...(LONG ? ['site', 'live'] : [])]) {
      const before = (await seen()).length;
      await click(`[role=columnheader][data-column^=${column}] button`);
      await until('new figures', async () => (await seen()).length >= before + 4);
    }
    const all = await seen();
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    const differing = all.filter(one => new Set(one).size > 1);
    assert.deepEqual(differing, [], `of ${all.length} moments`);
  });
});
